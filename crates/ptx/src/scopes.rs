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
    names: Map<&'a str, Vec<(usize, N)>>,
    /// By prefix the same, with how many registers.
    ranges: Map<&'a str, Vec<(usize, u32, R)>>,
    /// What each open scope declares, to be forgotten.
    open: Vec<Vec<Declared<'a>>>,
}

#[derive(Clone, Copy, Debug)]
enum Declared<'a> {
    Name(&'a str),
    Range(&'a str),
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
        for declared in self.open.pop().unwrap_or_default() {
            match declared {
                Declared::Name(name) => drop(self.names.get_mut(name).map(Vec::pop)),
                Declared::Range(prefix) => drop(self.ranges.get_mut(prefix).map(Vec::pop)),
            }
        }
    }

    /// How many scopes are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Declares a name in the innermost scope.
    pub(crate) fn declare(&mut self, name: &'a str, entity: N) {
        self.declare_in(self.open.len().saturating_sub(1), name, entity);
    }

    /// Declares a name in a scope that is open.
    pub(crate) fn declare_in(&mut self, scope: usize, name: &'a str, entity: N) {
        let declared = self.names.entry(name).or_default();
        let place = declared.partition_point(|&(other, _)| other < scope);
        match declared.get_mut(place) {
            Some((other, old)) if *other == scope => *old = entity,
            _ => {
                declared.insert(place, (scope, entity));
                self.open[scope].push(Declared::Name(name));
            }
        }
    }

    /// Declares a range of registers in the innermost scope.
    pub(crate) fn declare_range(&mut self, prefix: &'a str, count: u32, of: R) {
        let scope = self.open.len().saturating_sub(1);
        self.ranges.entry(prefix).or_default().push((scope, count, of));
        self.open[scope].push(Declared::Range(prefix));
    }

    /// What a name means here.
    pub(crate) fn find(&self, name: &str) -> Option<Found<'_, N, R>> {
        let named = self.names.get(name).and_then(|declared| declared.last());
        let named_in = named.map(|&(scope, _)| scope);
        if self.ranges.is_empty() || named_in == Some(self.open.len() - 1) {
            return named.map(|(scope, entity)| Found::Name(*scope, entity));
        }
        // `%f12` is of `%f<13>` or of `%f1<3>`; no number has more than ten digits.
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).take(10).count();
        let ranges = (name.len() - digits..name.len()).filter_map(|cut| {
            let (prefix, number) = name.split_at(cut);
            // `%f01` is `%f1`: so the assembler reads it.
            let number: u32 = number.parse().ok()?;
            let declared = self.ranges.get(prefix)?.iter().rev();
            let mut inner = declared.take_while(|&&(scope, ..)| named_in.is_none_or(|named| scope > named));
            inner.find(|&&(_, count, _)| number < count).map(|(scope, _, of)| (*scope, number, of))
        });
        match ranges.max_by_key(|&(scope, ..)| scope) {
            Some((scope, number, of)) => Some(Found::InRange(scope, number, of)),
            None => named.map(|(scope, entity)| Found::Name(*scope, entity)),
        }
    }

    /// Whether the innermost scope declares a range of such a prefix.
    pub(crate) fn has_range_here(&self, prefix: &str) -> bool {
        let last = self.ranges.get(prefix).and_then(|declared| declared.last());
        last.is_some_and(|&(scope, ..)| scope + 1 == self.open.len())
    }

    /// What a name means by a declaration of the innermost scope.
    pub(crate) fn find_here(&self, name: &str) -> Option<Found<'_, N, R>> {
        let innermost = self.open.len().saturating_sub(1);
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
