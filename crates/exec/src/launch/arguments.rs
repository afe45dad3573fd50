//! Arguments and variables laid out in global memory, and the limits of a launch.

use super::accesses::Accesses;
use super::api::{Arg, Engine, Options, RunError};
use super::bytes::Bytes;
use crate::interp::{FaultKind, ShadowElement};
use crate::kernel::{
    BUFFER_ALIGN, Buffer, Image, LANES, LOCAL_WINDOW, LaunchConfig, Layout, MayWrite, Origins, PARAM_WINDOW,
    PlacedImage, SHARED_WINDOW, THREADS, WINDOW, Writes, handle, image_parameters, read_element, write_element,
};
use roundonce_ir::{ImageType, Kernel, Param, Passing, Program, Variable};

/// CUDA's limits of a grid's axes.
const GRID_LIMIT: [u32; 3] = [0x7fff_ffff, 65_535, 65_535];

/// Bytes of a buffer of which a slice is given, at most: addresses of many such do not overflow.
const LARGEST: u64 = 1 << 48;

/// What pieces of shared memory are aligned to: the largest vector of OpenCL C.
const SHARED_ALIGN: u32 = 128;

/// The sizes that the caller chose.
pub(super) struct Sizes {
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
}

impl Sizes {
    pub(super) fn check(&self, kernel: &Kernel) -> Result<(), RunError> {
        let fail = |message: String| Err(RunError::usage(&kernel.name, message));
        let [x, y, z] = self.block;
        let threads = self.block.iter().fold(1u64, |all, &axis| all.saturating_mul(axis.into()));
        if threads == 0 || threads > THREADS as u64 {
            return fail(format!("a block of {x} × {y} × {z} threads: it must have 1 to {THREADS}"));
        }
        if let Some(most) = kernel.max_threads.filter(|&most| threads > u64::from(most)) {
            return fail(format!("a block of {threads} threads: the kernel allows {most}"));
        }
        if let Some(required) = kernel.required_block.filter(|required| *required != self.block) {
            let [a, b, c] = required;
            return fail(format!("a block of {x} × {y} × {z} threads: the kernel requires {a} × {b} × {c}"));
        }
        for (axis, (&size, limit)) in self.grid.iter().zip(GRID_LIMIT).enumerate() {
            if size == 0 || size > limit {
                return fail(format!("{size} blocks along axis {axis}: there must be 1 to {limit}"));
            }
        }
        Ok(())
    }
}

/// Where the parameters lie that are pieces of shared memory: one behind the other, before what the launch itself asks
/// for.
pub(super) struct SharedArguments {
    /// Of each parameter.
    offsets: Vec<u32>,
    /// What they take in all.
    pub(super) bytes: u32,
}

impl SharedArguments {
    pub(super) fn of(kernel: &Kernel, args: &[Arg]) -> Result<SharedArguments, RunError> {
        let mut own = SharedArguments { offsets: Vec::with_capacity(args.len()), bytes: 0 };
        let too_large = || RunError::usage(&kernel.name, "too many bytes of shared memory are given".to_owned());
        for (param, arg) in kernel.params.iter().zip(args) {
            own.offsets.push(own.bytes);
            if let (Passing::Shared, Arg::Scalar(bytes)) = (param.passing, arg) {
                let bytes = u32::try_from(*bytes).ok().and_then(|bytes| bytes.checked_next_multiple_of(SHARED_ALIGN));
                own.bytes = bytes.and_then(|bytes| own.bytes.checked_add(bytes)).ok_or_else(too_large)?;
            }
        }
        for ((param, arg), offset) in kernel.params.iter().zip(args).zip(&mut own.offsets) {
            if param.passing == Passing::Shared && *arg == Arg::Scalar(0) {
                *offset = own.bytes;
            }
            *offset = kernel.shared_bytes.checked_add(*offset).ok_or_else(too_large)?;
        }
        Ok(own)
    }
}

/// A launch's global memory: the words of each segment and their addresses.
pub(super) struct GlobalMemory {
    pub(super) layout: Layout,
    pub(super) words: Vec<Vec<u32>>,
    /// Which argument each segment is; variables are none.
    args: Vec<Option<usize>>,
    images: Vec<PlacedImage>,
}

impl GlobalMemory {
    /// Places arguments and variables, and fills the parameter block.
    pub(super) fn lay_out(
        program: &Program,
        kernel: &Kernel,
        sizes: &Sizes,
        args: Vec<Arg>,
        options: &Options,
        register_limit: u64,
    ) -> Result<(GlobalMemory, LaunchConfig), RunError> {
        let fail = |message: String| Err(RunError::usage(&kernel.name, message));
        let may_write = MayWrite::of(kernel, &Origins::of(kernel, &are_memory(&args)));
        let mut memory =
            GlobalMemory { layout: Layout::default(), words: Vec::new(), args: Vec::new(), images: Vec::new() };
        let has_images = args.iter().any(|arg| matches!(arg, Arg::Image(_)));
        let image_types = if has_images { image_parameters(kernel) } else { Vec::new() };
        let mut params = vec![0u8; kernel.param_bytes as usize];
        let mut buffer_bytes = vec![0; kernel.params.len()];
        let shared = SharedArguments::of(kernel, &args)?;
        let writes = |may_write| if may_write { Writes::Possible } else { Writes::Unexpected };
        for (index, (param, arg)) in kernel.params.iter().zip(args).enumerate() {
            buffer_bytes[index] = arg.buffer_bytes().unwrap_or(0);
            let arg = match (param.passing, arg) {
                (Passing::Shared, Arg::Scalar(_)) => Arg::Scalar(shared.offsets[index].into()),
                (_, arg) => arg,
            };
            let placed = match arg {
                Arg::Image(image) => {
                    let ty = image_types[index].map_or(ImageType::OPEN, |used| used.ty);
                    memory.place_image(index, param, ty, image, writes(may_write.param(index)))
                }
                arg => memory.place_argument(index, param, arg, writes(may_write.param(index))),
            };
            let bytes = match placed {
                Ok(bytes) => bytes,
                Err(message) => return fail(message),
            };
            let room = params.get_mut(param.offset as usize..(param.offset as usize + param.size as usize));
            let Some(room) = room else {
                return fail(format!("`{}` lies outside the parameter block", param.name));
            };
            for (at, byte) in room.iter_mut().enumerate() {
                *byte = bytes.get(at).copied().unwrap_or(0);
            }
        }
        let variables = memory.place_variables(&program.variables, writes(may_write.variables()));
        if program.address_bits == 32 && memory.layout.end() > 1 << 32 {
            return fail("the buffers do not fit into 32-bit addresses".to_owned());
        }
        let config = LaunchConfig {
            grid: sizes.grid,
            block: sizes.block,
            params: Buffer::from_bytes(&params).into_words(),
            param_bytes: kernel.param_bytes.into(),
            static_shared: kernel.shared_bytes,
            dynamic_shared: sizes.dynamic_shared,
            step_limit: options.step_limit,
            stop: options.stop.clone(),
            register_limit,
            compile_limit: options.compile_limit,
            keep_code: options.keep_code,
            check_races: options.check_races,
            stops_at_faults: false,
            trace_lane: options.trace_lane,
            observed: options.observed(),
            blocks: options.blocks.clone(),
            count_lines: options.count_lines,
            native: options.engine.machine(),
            compiles_late: options.engine == Engine::Auto,
            variables,
            buffer_bytes,
            images: std::mem::take(&mut memory.images),
        };
        Ok((memory, config))
    }

    /// Adds a segment, of an argument or a variable. Its address.
    fn add(
        &mut self,
        name: &str,
        (argument, words): (Option<usize>, Vec<u32>),
        (bytes, align): (u64, u64),
        writes: Writes,
    ) -> u64 {
        self.args.push(argument);
        self.words.push(words);
        self.layout.add(name, bytes, align, writes)
    }

    /// The bytes that the parameter receives: a buffer's address, or the value. The error is a message.
    fn place_argument(&mut self, index: usize, param: &Param, arg: Arg, writes: Writes) -> Result<Vec<u8>, String> {
        match arg {
            Arg::Sampler(sampler) if matches!(param.passing, Passing::Any | Passing::Sampler) && param.size == 8 => {
                Ok(sampler.to_bits().to_le_bytes().to_vec())
            }
            Arg::Sampler(_) => Err(format!("`{}` is no sampler", param.name)),
            _ if matches!(param.passing, Passing::Image(_)) => Err(format!("`{}` is an image", param.name)),
            _ if param.passing == Passing::Sampler => Err(format!("`{}` is a sampler", param.name)),
            _ if param.passing == Passing::Shared && !matches!(arg, Arg::Scalar(_)) => {
                Err(format!("`{}` is shared memory: a number of bytes is wanted", param.name))
            }
            Arg::Buffer(_) | Arg::Slice { .. } if param.passing == Passing::Value => {
                Err(format!("`{}` is a value, not a buffer", param.name))
            }
            // All of it.
            Arg::Buffer(bytes) => {
                let of = bytes.len() as u64;
                self.place_argument(index, param, Arg::Slice { bytes, at: 0, of }, writes)
            }
            Arg::Slice { bytes, at, of } => {
                let given = bytes.len() as u64;
                let is_inside = at.checked_add(given).is_some_and(|end| end <= of);
                if !at.is_multiple_of(BUFFER_ALIGN) || !is_inside || of > LARGEST {
                    let wanted = format!("it must lie inside and begin at a multiple of {BUFFER_ALIGN}");
                    return Err(format!("`{}`: a slice of {given} bytes at {at} of {of}: {wanted}", param.name));
                }
                let argument = (Some(index), bytes.into_words());
                let address = self.add(&param.name, argument, (of, BUFFER_ALIGN), writes);
                self.layout.slice(at, given);
                Ok(address.to_le_bytes().to_vec())
            }
            Arg::Scalar(_) if param.passing == Passing::Buffer => {
                Err(format!("`{}` is a buffer, not a number", param.name))
            }
            Arg::Scalar(bits) => Ok(bits.to_le_bytes().to_vec()),
            Arg::Bytes(bytes) if bytes.len() != param.size as usize => {
                Err(format!("`{}` has {} bytes, {} are given", param.name, param.size, bytes.len()))
            }
            Arg::Bytes(bytes) => Ok(bytes),
            Arg::Image(_) => Err(format!("`{}` is no image", param.name)),
        }
    }

    /// The handle that the parameter receives. The error is a message.
    fn place_image(
        &mut self,
        index: usize,
        param: &Param,
        ty: ImageType,
        image: Image,
        writes: Writes,
    ) -> Result<Vec<u8>, String> {
        if !matches!(param.passing, Passing::Any | Passing::Image(_)) || param.size != 8 {
            return Err(format!("`{}` is no image", param.name));
        }
        let extents = image.extents(ty).map_err(|problem| format!("`{}`: {problem}", param.name))?;
        let Image { element, data, sampler, .. } = image;
        let segment = self.words.len();
        let size = (data.len() as u64, BUFFER_ALIGN);
        let base = self.add(&param.name, (Some(index), data.into_words()), size, writes);
        self.images.push(PlacedImage { name: param.name.clone(), extents, element, sampler, base, segment });
        Ok(handle(self.images.len() - 1).to_le_bytes().to_vec())
    }

    /// Variables behind the buffers, addresses in their initial values filled in.
    fn place_variables(&mut self, variables: &[Variable], writes: Writes) -> Vec<u64> {
        let mut addresses = Vec::with_capacity(variables.len());
        for variable in variables {
            let align = variable.align.clamp(1, 1 << 20).next_power_of_two();
            let mut bytes = variable.initial.clone();
            bytes.resize(variable.size as usize, 0);
            let words = Buffer::from_bytes(&bytes).into_words();
            let writes = if variable.constant { Writes::Constant } else { writes };
            addresses.push(self.add(&variable.name, (None, words), (variable.size, align), writes));
        }
        let first = self.words.len() - variables.len();
        for (variable, words) in variables.iter().zip(&mut self.words[first..]) {
            for relocation in &variable.relocations {
                let address = addresses.get(relocation.variable as usize).copied().unwrap_or(0);
                let value = address.wrapping_add(relocation.addend as u64) >> relocation.shift;
                let bytes = u64::from(relocation.bytes.clamp(1, 8));
                let fits = relocation.offset % bytes == 0 && relocation.offset.saturating_add(bytes) <= variable.size;
                if fits {
                    write_element(words, relocation.offset, bytes as u32, value);
                }
            }
        }
        addresses
    }

    /// Marks so far away from all memory, for each segment in its order, zero; and for the windows, whose accesses by generic
    /// addresses leave marks too.
    fn add_marks(&mut self, windows: [(u64, u64); 3], distance: u64) {
        let segments = self.layout.segments[..self.args.len()].iter().map(|segment| (segment.base, segment.bytes));
        for (base, bytes) in windows.into_iter().chain(segments.collect::<Vec<_>>()) {
            self.words.push(vec![0; bytes.div_ceil(4) as usize]);
            self.layout.add_at(base + distance, bytes);
        }
    }

    /// The same for what is written, and where it is asked for for what is read.
    pub(super) fn mark(
        &mut self,
        kernel: &Kernel,
        sizes: &Sizes,
        (distance, reads): (u64, bool),
    ) -> Result<(), RunError> {
        if self.layout.end() > distance {
            return Err(RunError::usage(&kernel.name, "the buffers are too large for a part of a launch".to_owned()));
        }
        let shared = u64::from(kernel.shared_bytes) + u64::from(sizes.dynamic_shared);
        let windows = [
            (SHARED_WINDOW, shared),
            (LOCAL_WINDOW, kernel.local_bytes.into()),
            (PARAM_WINDOW, kernel.param_bytes.into()),
        ];
        for copy in 1..=1 + u64::from(reads) {
            self.add_marks(windows, copy * distance);
        }
        Ok(())
    }

    /// What the marks say, by segment.
    pub(super) fn accesses(&self) -> Vec<Accesses> {
        let count = self.args.len();
        let of = |copy: usize, segment: usize| {
            let words = self.words.get(count + copy * (3 + count) + 3 + segment);
            words.map_or_else(Bytes::default, |words| Bytes::marked(words))
        };
        let segments = self.layout.segments[..count].iter().zip(&self.args).enumerate();
        let accesses = segments.map(|(index, (segment, argument))| Accesses {
            name: segment.name.clone(),
            argument: *argument,
            written: of(0, index).behind(segment.base - segment.whole.start),
            read: of(1, index).behind(segment.base - segment.whole.start),
        });
        accesses.collect()
    }

    /// The floats that stand at some addresses, by argument and offset; those whose bits were overwritten are left out.
    pub(super) fn elements(
        &self,
        count: usize,
        at: impl Iterator<Item = (u64, ShadowElement)>,
    ) -> Vec<Vec<ShadowElement>> {
        let mut buffers = vec![Vec::new(); count];
        for (address, element) in at {
            let bytes = element.format.width() / 8;
            let Some((segment, offset)) = self.layout.locate(address, bytes.into()) else { continue };
            let Some(argument) = self.args[segment] else { continue };
            let bits = read_element(|index| self.words[segment][index], offset, bytes);
            if bits == element.bits {
                buffers[argument].push(ShadowElement { offset, ..element });
            }
        }
        buffers.iter_mut().for_each(|elements| elements.sort_by_key(|element| element.offset));
        buffers
    }

    /// The contents of the buffers, by argument.
    pub(super) fn into_buffers(self, count: usize) -> Vec<Option<Buffer>> {
        let mut buffers = vec![None; count];
        for ((words, segment), arg) in self.words.into_iter().zip(&self.layout.segments).zip(&self.args) {
            if let Some(arg) = *arg {
                buffers[arg] = Some(Buffer::from_parts(words, segment.bytes as usize));
            }
        }
        buffers
    }
}

/// Which arguments are memory.
pub(super) fn are_memory(args: &[Arg]) -> Vec<bool> {
    args.iter().map(|arg| matches!(arg, Arg::Buffer(_) | Arg::Slice { .. } | Arg::Image(_))).collect()
}

/// As many arguments as parameters.
pub(super) fn check_count(kernel: &Kernel, count: usize) -> Result<(), RunError> {
    if count == kernel.params.len() {
        return Ok(());
    }
    let names: Vec<&str> = kernel.params.iter().map(|param| param.name.as_str()).collect();
    let message = format!("the kernel takes {} arguments ({}), {count} are given", names.len(), names.join(", "));
    Err(RunError::usage(&kernel.name, message))
}

/// Whether all that the launch will allocate, global memory so many times, is within the limit, before any of it is
/// allocated.
pub(super) fn check_memory(
    program: &Program,
    kernel: &Kernel,
    sizes: &Sizes,
    args: &[Arg],
    options: &Options,
    (workers, copies): (usize, u64),
) -> Result<u64, RunError> {
    let buffers = args.iter().map(|arg| match arg {
        Arg::Buffer(buffer) | Arg::Slice { bytes: buffer, .. } | Arg::Image(Image { data: buffer, .. }) => {
            buffer.len() as u64
        }
        _ => 0,
    });
    let variables = program.variables.iter().map(|variable| variable.size);
    let global = buffers.chain(variables).fold(0u64, u64::saturating_add).saturating_mul(copies);
    let shared = u64::from(kernel.shared_bytes) + u64::from(sizes.dynamic_shared);
    let of_batch = (shared + u64::from(kernel.local_bytes)) * LANES as u64;
    let all = global.saturating_add(of_batch * workers as u64);
    let fail =
        |message: String| Err(RunError { kind: FaultKind::MemoryLimit, ..RunError::usage(&kernel.name, message) });
    if shared > WINDOW || u64::from(kernel.local_bytes) > WINDOW {
        return fail(format!(
            "{shared} bytes of shared and {} of local memory: {WINDOW} are possible",
            kernel.local_bytes
        ));
    }
    if all > options.memory_limit {
        return fail(format!("the launch needs {all} bytes of memory; the limit is {}", options.memory_limit));
    }
    Ok((options.memory_limit - all) / workers as u64)
}
