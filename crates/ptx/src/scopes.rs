//! Names in nested braces, and ranges of registers (`%f<4>`): found in the time of a few look-ups, however deep.

use crate::ast::Statement;
use std::collections::HashMap;

/// By names of a module. Its hashes are seeded by chance, so that no module is slow on purpose, and quicker than the standard
/// library's for texts as short as these.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// What names stand for: an `N`, or one of a range's registers, which an `R` describes.
#[derive(Clone, Debug)]
pub(crate) struct Scopes<'a, N, R> {
    /// By name, the scopes that declare it, the innermost last.
    names: Map<&'a str, Vec<Declaration<N>>>,
    /// By prefix the same.
    ranges: Map<&'a str, Ranges<R>>,
    /// What each open scope declares, to be forgotten.
    open: Vec<Vec<Declared<'a>>>,
}

#[derive(Clone, Debug)]
struct Declaration<N> {
    scope: usize,
    /// A label yields its name to a register of a range in its scope.
    is_label: bool,
    entity: N,
}

#[derive(Clone, Copy, Debug)]
enum Declared<'a> {
    Name(&'a str),
    Range(&'a str),
}

/// A range of registers: the scope that declares it, how many there are, and what they are.
#[derive(Clone, Debug)]
struct Range<R> {
    scope: usize,
    count: u32,
    of: R,
}

/// Ranges of one prefix. A later one hides those before it that are no longer.
#[derive(Clone, Debug)]
struct Ranges<R> {
    /// Of the first `len` those that are not hidden: the longest first, the latest last.
    seen: Vec<Range<R>>,
    len: usize,
    /// For each declaration, the length before it and what it took the place of.
    before: Vec<(usize, Option<Range<R>>)>,
}

impl<R> Default for Ranges<R> {
    fn default() -> Ranges<R> {
        Ranges { seen: Vec::new(), len: 0, before: Vec::new() }
    }
}

impl<R> Ranges<R> {
    fn declare(&mut self, range: Range<R>) {
        let place = self.seen[..self.len].partition_point(|other| other.count > range.count);
        let old = match self.seen.get_mut(place) {
            Some(other) => Some(std::mem::replace(other, range)),
            None => {
                self.seen.push(range);
                None
            }
        };
        self.before.push((self.len, old));
        self.len = place + 1;
    }

    /// Forgets the last declaration.
    fn forget(&mut self) {
        let Some((len, old)) = self.before.pop() else { return };
        if let (Some(old), Some(place)) = (old, self.len.checked_sub(1)) {
            self.seen[place] = old;
        }
        self.len = len;
    }

    /// The latest that has a register of this number.
    fn find(&self, number: u32) -> Option<&Range<R>> {
        let longer = self.seen[..self.len].partition_point(|range| range.count > number);
        Some(&self.seen[longer.checked_sub(1)?])
    }
}

/// What was found, and in which scope, counted from the outermost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'s, N, R> {
    Name(usize, &'s N),
    /// And the register's number.
    InRange(usize, u32, &'s R),
}

impl<'a, N, R> Default for Scopes<'a, N, R> {
    /// With one scope.
    fn default() -> Scopes<'a, N, R> {
        Scopes { names: Map::default(), ranges: Map::default(), open: vec![Vec::new()] }
    }
}

impl<'a, N, R> Scopes<'a, N, R> {
    pub(crate) fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    /// Leaves the innermost scope.
    pub(crate) fn leave(&mut self) {
        for declared in self.open.pop().unwrap_or_default().into_iter().rev() {
            match declared {
                Declared::Name(name) => drop(self.names.get_mut(name).map(Vec::pop)),
                Declared::Range(prefix) => drop(self.ranges.get_mut(prefix).map(Ranges::forget)),
            }
        }
    }

    /// How many scopes are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    fn innermost(&self) -> usize {
        self.open.len().saturating_sub(1)
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: &'a str, entity: N) {
        self.insert(name, Declaration { scope: self.innermost(), is_label: false, entity });
    }

    /// Declares a label likewise.
    pub(crate) fn declare_label(&mut self, name: &'a str, entity: N) {
        self.insert(name, Declaration { scope: self.innermost(), is_label: true, entity });
    }

    /// Declares a register of a range in the scope that has the range.
    pub(crate) fn declare_in(&mut self, scope: usize, name: &'a str, entity: N) {
        let declared = self.names.get(name).map_or(&[][..], Vec::as_slice);
        if !declared.iter().any(|other| other.scope == scope && other.is_label) {
            self.insert(name, Declaration { scope, is_label: false, entity });
        }
    }

    fn insert(&mut self, name: &'a str, declaration: Declaration<N>) {
        let scope = declaration.scope;
        let declared = self.names.entry(name).or_default();
        let place = declared.partition_point(|other| other.scope < scope);
        match declared.get_mut(place) {
            Some(other) if other.scope == scope => *other = declaration,
            _ => {
                declared.insert(place, declaration);
                self.open[scope].push(Declared::Name(name));
            }
        }
    }

    /// Declares a range of registers in the innermost scope.
    pub(crate) fn declare_range(&mut self, prefix: &'a str, count: u32, of: R) {
        let scope = self.innermost();
        self.ranges.entry(prefix).or_default().declare(Range { scope, count, of });
        self.open[scope].push(Declared::Range(prefix));
    }

    /// What a name means here.
    pub(crate) fn find(&self, name: &str) -> Option<Found<'_, N, R>> {
        let named = self.names.get(name).and_then(|declared| declared.last());
        let found = named.map(|named| Found::Name(named.scope, &named.entity));
        // The outermost scope of a range that comes before the name.
        let least = named.map_or(0, |named| named.scope + usize::from(!named.is_label));
        if self.ranges.is_empty() || least == self.open.len() {
            return found;
        }
        // `%f12` is of `%f<13>` or of `%f1<3>`; no number has more than ten digits.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(10).count();
        let ranges = (name.len() - digits..name.len()).filter_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            // `%f01` is `%f1`: so the assembler reads it.
            let number: u32 = number.parse().ok()?;
            let range = self.ranges.get(prefix)?.find(number)?;
            (range.scope >= least).then_some((range.scope, number, &range.of))
        });
        match ranges.max_by_key(|&(scope, ..)| scope) {
            Some((scope, number, of)) => Some(Found::InRange(scope, number, of)),
            None => found,
        }
    }

    /// The label of the innermost scope, though a register of a range have its name.
    pub(crate) fn label_here(&self, name: &str) -> Option<&N> {
        let named = self.names.get(name).and_then(|declared| declared.last())?;
        (named.is_label && named.scope == self.innermost()).then_some(&named.entity)
    }

    /// Whether the innermost scope declares a range of such a prefix.
    pub(crate) fn has_range_here(&self, prefix: &str) -> bool {
        let last = self.ranges.get(prefix).and_then(|ranges| ranges.seen[..ranges.len].last());
        last.is_some_and(|range| range.scope == self.innermost())
    }

    /// What a name means by a declaration of the innermost scope.
    pub(crate) fn find_here(&self, name: &str) -> Option<Found<'_, N, R>> {
        let innermost = self.innermost();
        self.find(name).filter(|&(Found::Name(scope, _) | Found::InRange(scope, ..))| scope == innermost)
    }
}

/// For the body and each pair of braces in it, by the order of their beginnings: the places of the statements directly
/// in them that are labels.
pub(crate) fn labels_by_scope(statements: &[Statement<'_>]) -> Vec<Vec<usize>> {
    let mut labels = vec![Vec::new()];
    let mut open = vec![0];
    for (place, statement) in statements.iter().enumerate() {
        match statement {
            Statement::Open(_) => {
                open.push(labels.len());
                labels.push(Vec::new());
            }
            Statement::Close(_) if open.len() > 1 => drop(open.pop()),
            Statement::Label(_) => labels[open[open.len() - 1]].push(place),
            _ => {}
        }
    }
    labels
}
