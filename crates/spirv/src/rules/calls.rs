//! Which functions call which, and what calls hand on: from what calls to what is called, or back.

use std::collections::{BTreeSet, HashMap};

use rspirv::spirv::Op;

use super::dominators::postorder;
use crate::module::Module;

/// How often what is handed on goes round where functions call each other in a circle, as no valid module has it.
const MOST_ROUNDS: usize = 8;

/// The functions of a module, each behind all that call it.
pub(super) struct Calls {
    places: HashMap<u32, usize>,
    /// The places of the functions that each function calls.
    callees: Vec<Vec<usize>>,
    has_circle: bool,
}

impl Calls {
    pub(super) fn of(module: &Module) -> Calls {
        let mut called: Vec<(u32, BTreeSet<u32>)> = Vec::new();
        for instruction in module.instructions() {
            match (Op::from_u32(instruction.opcode.into()), called.last_mut()) {
                (Some(Op::Function), _) => called.push((module.result(instruction).unwrap_or(0), BTreeSet::new())),
                (Some(Op::FunctionCall), Some((_, callees))) => {
                    callees.insert(module.operand_word(instruction, 2));
                }
                _ => {}
            }
        }
        let numbers: HashMap<u32, usize> = called.iter().map(|(function, _)| *function).zip(0..).collect();
        let mut successors: Vec<Vec<usize>> = called
            .iter()
            .map(|(_, callees)| callees.iter().filter_map(|callee| numbers.get(callee).copied()).collect())
            .collect();
        let root = successors.len();
        successors.push((0..root).collect());
        let mut order = postorder(&successors, root);
        order.retain(|&function| function != root);
        order.reverse();
        let mut place = vec![0; root];
        order.iter().enumerate().for_each(|(at, &function)| place[function] = at);
        let callees: Vec<Vec<usize>> =
            order.iter().map(|&caller| successors[caller].iter().map(|&callee| place[callee]).collect()).collect();
        let has_circle = callees.iter().enumerate().any(|(caller, all)| all.iter().any(|&callee| callee <= caller));
        let places = numbers.into_iter().map(|(function, number)| (function, place[number])).collect();
        Calls { places, callees, has_circle }
    }

    /// By place, what is given of some functions, joined where it is given twice, and the default of the others.
    pub(super) fn values<T: Clone + Default>(
        &self,
        given: impl IntoIterator<Item = (u32, T)>,
        join: impl Fn(&mut T, &T),
    ) -> Vec<T> {
        let mut values = vec![T::default(); self.callees.len()];
        for (function, value) in given {
            if let Some(place) = self.place(function) {
                join(&mut values[place], &value);
            }
        }
        values
    }
    pub(super) fn functions(&self) -> usize {
        self.callees.len()
    }
    pub(super) fn place(&self, function: u32) -> Option<usize> {
        self.places.get(&function).copied()
    }
    /// A function's among the values of all.
    pub(super) fn value<'v, T>(&self, values: &'v [T], function: u32) -> Option<&'v T> {
        values.get(self.place(function)?)
    }
    /// What is called has the values of what calls it too.
    pub(super) fn hand_down<T: Clone>(&self, values: &mut [T], join: impl Fn(&mut T, &T)) {
        for _ in 0..self.rounds() {
            for (caller, callees) in self.callees.iter().enumerate() {
                let given = values[caller].clone();
                callees.iter().for_each(|&callee| join(&mut values[callee], &given));
            }
        }
    }
    /// What calls has the values of what it calls too.
    pub(super) fn hand_up<T: Clone>(&self, values: &mut [T], join: impl Fn(&mut T, &T)) {
        for _ in 0..self.rounds() {
            for (caller, callees) in self.callees.iter().enumerate().rev() {
                for &callee in callees {
                    let given = values[callee].clone();
                    join(&mut values[caller], &given);
                }
            }
        }
    }
    /// Whether a function is among these, or called by them, directly or not.
    pub(super) fn reached(&self, functions: impl IntoIterator<Item = u32>) -> impl Fn(u32) -> bool {
        let either = |one: &mut bool, other: &bool| *one |= other;
        let mut reached = self.values(functions.into_iter().map(|function| (function, true)), either);
        self.hand_down(&mut reached, either);
        move |function| self.value(&reached, function) == Some(&true)
    }
    /// A function among these, or called by them, that calls itself, directly or not.
    pub(super) fn in_circle(&self, functions: impl IntoIterator<Item = u32>) -> Option<u32> {
        if !self.has_circle {
            return None;
        }
        let is_reached = self.reached(functions);
        let calls_back = |place: usize| self.callees[place].iter().any(|&callee| callee <= place);
        let found = self.places.iter().filter(|&(&function, &place)| calls_back(place) && is_reached(function));
        found.min_by_key(|(_, place)| **place).map(|(&function, _)| function)
    }
    fn rounds(&self) -> usize {
        if self.has_circle { MOST_ROUNDS } else { 1 }
    }
}
