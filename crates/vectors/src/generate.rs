//! Test vectors with the engine's results: directed at every boundary of the pipeline, then random.

use std::fmt;
use std::sync::Arc;

use roundonce::arith::OperandIndex as Place;
use roundonce::isa::Location;
use roundonce::{Finding, Profile, Target, Value};

use crate::block::Vector;
use crate::directed::DirectedGenerator;
use crate::instruction::InstructionUnderTest;

/// Directed vectors of an instruction, at most: then nothing new comes of them.
const MOST_DIRECTED: u64 = 100_000;

/// Vectors of some instructions, made when they are asked for: the same for the same seed, on every machine.
///
/// ```
/// use roundonce_vectors::Generated;
/// let vectors = Generated::new(&["fma.rz.f32"], 100, 1, &Default::default())?;
/// let (fma, first) = vectors.iter().next().unwrap();
/// assert_eq!(fma.evaluate(&first.operands).value, first.result);
/// # Ok::<(), roundonce::Finding>(())
/// ```
#[derive(Clone, Debug)]
pub struct Generated {
    instructions: Vec<InstructionUnderTest>,
    count: u64,
    seed: u64,
    watch: Watch,
    /// How often they are made for one file.
    passes: u64,
}

/// What is told of vectors as they are made: so many more, of so many.
#[derive(Clone)]
struct Watch(Arc<dyn Fn(u64, u64) + Send + Sync>);

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// Vectors that are made before more is told.
const TOLD: u64 = 1024;

impl Generated {
    /// So many vectors for each instruction.
    ///
    /// # Errors
    /// A finding about the first spelling that names none, or that stands there twice.
    pub fn new<S: AsRef<str>>(spellings: &[S], count: u64, seed: u64, target: &Target) -> Result<Generated, Finding> {
        let instructions = spellings.iter().map(|spelling| InstructionUnderTest::alone(spelling.as_ref(), target));
        let instructions: Vec<InstructionUnderTest> = instructions.collect::<Result<_, _>>()?;
        for (at, tested) in instructions.iter().enumerate() {
            if instructions[..at].iter().any(|other| other.spelling == tested.spelling) {
                let message = format!("`{}` is named twice", tested.spelling);
                return Err(Finding::error("FORM0007", Location::Whole, message));
            }
        }
        Ok(Generated { instructions, count, seed, watch: Watch(Arc::new(|_, _| {})), passes: 1 })
    }

    /// The same with the results of a profile.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Generated {
        self.instructions.iter_mut().for_each(|tested| tested.profile = profile);
        self
    }

    /// The same, told of while they are made: so many more, of so many that a file needs. Some formats need each several times.
    #[must_use]
    pub fn with_watch(mut self, watch: impl Fn(u64, u64) + Send + Sync + 'static) -> Generated {
        self.watch = Watch(Arc::new(watch));
        self
    }

    /// The same for a file that needs each so often.
    pub(crate) fn in_passes(&self, passes: u64) -> Generated {
        Generated { passes, ..self.clone() }
    }

    /// The instructions.
    pub fn instructions(&self) -> &[InstructionUnderTest] {
        &self.instructions
    }
    /// How many vectors each has.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// All of them, an instruction after another.
    pub fn iter(&self) -> impl Iterator<Item = (&InstructionUnderTest, Vector)> {
        self.instructions.iter().flat_map(|tested| self.of(tested).map(move |vector| (tested, vector)))
    }

    /// Those of one instruction: half of them directed, the rest random.
    pub fn of(&self, tested: &InstructionUnderTest) -> impl Iterator<Item = Vector> {
        let operation = tested.recipe().operation;
        // Other operands for each instruction: FNV-1a of its spelling.
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let seed = tested.spelling.bytes().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, fnv);
        let mut generator = DirectedGenerator::new(seed, &operation, &tested.profile);
        let directed = (self.count.div_ceil(2)).min(MOST_DIRECTED);
        let (arity, components) = (tested.arity(), tested.components() as usize);
        let mut made = 0;
        let of = self.count.saturating_mul(self.instructions.len() as u64).saturating_mul(self.passes);
        (0..self.count).map(move |index| {
            let untold = index % TOLD + 1;
            if untold == TOLD || index + 1 == self.count {
                (self.watch.0)(untold, of);
            }
            let mut triples = [[0; 3]; roundonce::isa::MAX_COMPONENTS];
            for triple in &mut triples[..components] {
                *triple = if index < directed { generator.directed(made) } else { generator.random() };
                made += 1;
            }
            let place = |place: Place| Value::of(triples[..components].iter().map(|triple| triple[place as usize]));
            let operands: Vec<Value> = operation.op.operands().iter().map(|&operand| place(operand)).collect();
            debug_assert_eq!(operands.len(), arity);
            let evaluated = tested.evaluate(&operands);
            Vector { operands, result: evaluated.value, flags: Some(evaluated.flags.bits()) }
        })
    }
}
