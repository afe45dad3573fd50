//! The bytes of a module. PTX is ASCII but for its comments, which may be in any encoding.

use crate::lexer::{Lexer, TokenKind};

/// The text of a module. A byte of a comment that is not UTF-8 becomes a `?`, so that all places are the same.
///
/// # Errors
///
/// Where the first such byte outside comments stands.
///
/// ```
/// use roundonce_ptx::decode;
/// assert_eq!(decode(b"// caf\xe9\nret;"), Ok("// caf?\nret;".to_owned()));
/// assert_eq!(decode(b"// caf\xe9\n\xe9"), Err(8));
/// ```
pub fn decode(bytes: &[u8]) -> Result<String, usize> {
    let mut text = String::with_capacity(bytes.len());
    let mut replaced = Vec::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for _ in chunk.invalid() {
            replaced.push(text.len());
            text.push('?');
        }
    }
    // Beyond that no place is a token's, and no module is parsed.
    if let (Some(first), Err(_)) = (replaced.first(), u32::try_from(text.len())) {
        return Err(*first);
    }
    let mut lexer = Lexer::new(&text);
    let mut replaced = replaced.into_iter().peekable();
    loop {
        let token = lexer.next();
        while replaced.next_if(|&at| at < token.span.start as usize).is_some() {}
        match replaced.peek() {
            Some(&at) if at < token.span.end as usize => return Err(at),
            _ if token.kind == TokenKind::End => break,
            _ => {}
        }
    }
    Ok(text)
}
