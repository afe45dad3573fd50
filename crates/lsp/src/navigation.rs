//! From a name to its declaration and its uses, and the names of a text.

use lsp_types::{DocumentSymbol, Location, SymbolKind};
use roundonce::isa::{Declaration, TokenClass};

use crate::document::{Document, Places};

pub(crate) fn definition(document: &Document, places: &Places<'_>, byte: usize) -> Option<Location> {
    let outline = document.outline();
    let declaration = &outline.declarations[outline.used(byte)?.declaration];
    Some(Location::new(document.uri.clone(), places.range(declaration.span)))
}

pub(crate) fn references(
    document: &Document,
    places: &Places<'_>,
    byte: usize,
    with_declaration: bool,
) -> Option<Vec<Location>> {
    let outline = document.outline();
    let declaration = outline.used(byte)?.declaration;
    let declared = outline.declarations[declaration].span.0;
    let wanted = outline.uses_at(byte)?.filter(|used| with_declaration || used.start != declared);
    let location = |(start, end)| Location::new(document.uri.clone(), places.range((start, end)));
    Some(wanted.map(|used| location((used.start, used.end))).collect())
}

/// Functions with their labels and variables; a listing's and a module's other names beside them.
pub(crate) fn symbols(document: &Document, places: &Places<'_>) -> Vec<DocumentSymbol> {
    let outline = document.outline();
    let (functions, others): (Vec<&Declaration>, Vec<&Declaration>) =
        outline.declarations.iter().partition(|declaration| declaration.class == TokenClass::Function);
    let mut all: Vec<DocumentSymbol> = functions.iter().map(|function| symbol(function, places)).collect();
    // In the order of the text, to be searched.
    let mut order: Vec<usize> = (0..functions.len()).collect();
    order.sort_by_key(|&at| functions[at].whole);
    for declaration in others {
        let behind = order.partition_point(|&at| functions[at].whole.0 <= declaration.span.0);
        let around = order[..behind].last().filter(|&&at| declaration.span.1 <= functions[at].whole.1);
        let list = match around {
            Some(&at) => all[at].children.get_or_insert_default(),
            None => &mut all,
        };
        list.push(symbol(declaration, places));
    }
    let by_place = |symbols: &mut Vec<DocumentSymbol>| {
        symbols.sort_by_key(|symbol| (symbol.range.start.line, symbol.range.start.character));
    };
    all.iter_mut().filter_map(|symbol| symbol.children.as_mut()).for_each(by_place);
    by_place(&mut all);
    all
}

fn symbol(declaration: &Declaration, places: &Places<'_>) -> DocumentSymbol {
    let kind = match declaration.class {
        TokenClass::Function => SymbolKind::FUNCTION,
        TokenClass::Label => SymbolKind::KEY,
        TokenClass::Type => SymbolKind::STRUCT,
        TokenClass::Parameter | TokenClass::Variable => SymbolKind::VARIABLE,
        _ => SymbolKind::FIELD,
    };
    // What is selected must lie within the whole.
    let (span, whole) = (declaration.span, declaration.whole);
    let whole = (whole.0.min(span.0), whole.1.max(span.1));
    #[expect(deprecated, reason = "the protocol's type has the field")]
    DocumentSymbol {
        name: declaration.name.clone(),
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range: places.range(whole),
        selection_range: places.range(span),
        children: None,
    }
}
