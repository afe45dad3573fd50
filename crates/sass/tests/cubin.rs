//! Cubins, made here byte by byte: kernels are found, FFMA is read, the rest is shown as words.

use object::Endianness;
use object::elf::{EM_CUDA, ET_EXEC, SHF_ALLOC, SHF_EXECINSTR, SHT_PROGBITS};
use object::write::elf::{FileHeader, SectionHeader, Writer};
use roundonce_isa::Location;
use roundonce_sass::modern::{self, Target};
use roundonce_sass::{Control, Cubin, Layout, ScheduleStyle, asm_file, asm_line, patch};

/// An ELF file with one section for each code.
fn elf(machine: u16, flags: u32, sections: &[(&str, &[u64])]) -> Vec<u8> {
    elf_of_version(7, machine, flags, sections)
}

fn elf_of_version(abi_version: u8, machine: u16, flags: u32, sections: &[(&str, &[u64])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(Endianness::Little, true, &mut bytes);
    writer.reserve_null_section_index();
    let names: Vec<_> = sections.iter().map(|(name, _)| writer.add_section_name(name.as_bytes())).collect();
    for _ in sections {
        writer.reserve_section_index();
    }
    writer.reserve_shstrtab_section_index();
    writer.reserve_file_header();
    let offsets: Vec<usize> = sections.iter().map(|(_, code)| writer.reserve(8 * code.len(), 32)).collect();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();
    let (e_type, e_machine, e_flags) = (ET_EXEC, machine, flags);
    let header = FileHeader { os_abi: 0x33, abi_version, e_type, e_machine, e_entry: 0, e_flags };
    writer.write_file_header(&header).unwrap();
    for (_, code) in sections {
        writer.write_align(32);
        writer.write(&code.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    }
    writer.write_shstrtab();
    writer.write_null_section_header();
    for ((name, offset), (_, code)) in names.into_iter().zip(offsets).zip(sections) {
        writer.write_section_header(&SectionHeader {
            name: Some(name),
            sh_type: SHT_PROGBITS,
            sh_flags: u64::from(SHF_ALLOC | SHF_EXECINSTR),
            sh_addr: 0,
            sh_offset: offset as u64,
            sh_size: 8 * code.len() as u64,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: 32,
            sh_entsize: 0,
        });
    }
    writer.write_shstrtab_section_header();
    bytes
}

/// What a compiler made of `fma.rn.sat.f32` with a parameter: MOV, MOV, MOV; MOV, FFMA.SAT, STG.
const CODE: [u64; 8] = [
    0x001f_c400_fe20_07f6,
    0x4c98_0780_0087_0001,
    0x4c98_0780_0527_0000,
    0x4c98_0780_0507_0002,
    0x001f_c400_fe40_07f4,
    0x4c98_0780_0517_0003,
    0x5184_0000_0527_0000,
    0xeedc_2000_0007_0200,
];
const SM_50: u32 = 0x0032_0532;

#[test]
fn kernels_are_listed() {
    let bytes =
        elf(EM_CUDA, SM_50, &[(".text.saturated", &CODE), (".nv.constant0.saturated", &[1, 2]), (".text.empty", &[])]);
    assert!(Cubin::is_elf(&bytes));
    let cubin = Cubin::parse(&bytes).unwrap();
    assert_eq!(cubin.target, 50);
    let names: Vec<(&str, usize)> = cubin.kernels.iter().map(|kernel| (&*kernel.name, kernel.words.len())).collect();
    assert_eq!(names, [("saturated", 8), ("empty", 0)]);

    let text = cubin.disassemble(&Layout { addresses: true, ..Layout::default() }).unwrap();
    let wanted = "\
.text.saturated:
        /*0008*/                   MOV R1, c[0x0][0x20] ;
        /*0010*/                   MOV R0, c[0x0][0x148] ;
        /*0018*/                   MOV R2, c[0x0][0x140] ;
        /*0028*/                   MOV R3, c[0x0][0x144] ;
        /*0030*/                   FFMA.SAT R0, R0, R0, c[0x0][0x148] ;
        /*0038*/                   STG.E [R2], R0 ;
.text.empty:
";
    assert_eq!(text, wanted);
    for style in ScheduleStyle::NAMED.map(|(_, style)| Some(style)).into_iter().chain([None]) {
        let layout = Layout { schedule: style, words: true, ..Layout::default() };
        let assembly = asm_file(&cubin.disassemble(&layout).unwrap()).unwrap();
        assert_eq!(assembly.bundles().concat(), CODE, "{style:?}");
        assert_eq!(assembly.kernels[0], ("saturated".to_owned(), 0));
    }
}

/// From ABI version 8 on the target is in the second byte of the flags.
#[test]
fn targets_of_both_abi_versions() {
    for (version, flags, target) in [(7, SM_50, 50), (8, 0x0600_3402, 52), (8, 0x0600_3d04, 61)] {
        let cubin = Cubin::parse(&elf_of_version(version, EM_CUDA, flags, &[(".text.k", &CODE)])).unwrap();
        assert_eq!(cubin.target, target, "{flags:#x}");
    }
    for (flags, name) in [(0x0600_5004, "sm_80"), (0x0600_5a04, "sm_90"), (0x0600_7802, "sm_120")] {
        let refusal = Cubin::parse(&elf_of_version(8, EM_CUDA, flags, &[(".text.k", &CODE)])).unwrap_err();
        assert!(refusal.message.contains(name), "{refusal}");
    }
}

/// Findings are located in the file, in words of 8 bytes.
#[test]
fn a_cubin_is_checked() {
    let cubin = Cubin::parse(&elf(EM_CUDA, SM_50, &[(".text.saturated", &CODE)])).unwrap();
    assert_eq!(cubin.check(), (Vec::new(), 0));
    let mut bad = CODE;
    bad[4] = bad[4] & !(0x1f << 42) | 16 << 42;
    bad[6] |= 3 << 53;
    let cubin = Cubin::parse(&elf(EM_CUDA, SM_50, &[(".text.saturated", &bad)])).unwrap();
    let first = cubin.kernels[0].offset / 8;
    let found: Vec<_> = cubin.check().0.iter().map(|finding| (finding.code, finding.location)).collect();
    let at = |word| Location::Word(first + word);
    assert_eq!(found, [("SASS0011", at(6)), ("SASS0016", at(7))]);
}

#[test]
fn other_files_are_refused() {
    let refusal = |bytes: &[u8]| Cubin::parse(bytes).unwrap_err();
    let wrong_machine = refusal(&elf(62, SM_50, &[(".text.k", &CODE)]));
    assert_eq!(wrong_machine.code, "SASS0026");
    assert!(wrong_machine.message.contains("machine is 62"), "{wrong_machine}");
    let volta = refusal(&elf(EM_CUDA, 0x0046_0546, &[(".text.k", &CODE)]));
    assert!(volta.message.contains("sm_70"), "{volta}");
    let ragged = refusal(&elf(EM_CUDA, SM_50, &[(".text.k", &CODE[..5])]));
    assert_eq!(ragged.code, "SASS0025");
    assert!(ragged.message.contains("kernel `k`: 40 bytes"), "{ragged}");
    assert!(!Cubin::is_elf(b"FFMA R0, R1, R2, R3;"));
    assert_eq!(refusal(b"").code, "SASS0026");

    // Many names of the same bytes.
    let names: Vec<String> = (0..40).map(|number| format!(".text.k{number}")).collect();
    let sections: Vec<(&str, &[u64])> = names.iter().map(|name| (name.as_str(), [0; 0].as_slice())).collect();
    let mut shared = elf(EM_CUDA, SM_50, &sections);
    let whole = shared.len() as u64 / 32 * 32;
    let headers = u64::from_le_bytes(*shared[40..].first_chunk().unwrap()) as usize;
    for number in 1..=sections.len() {
        let header = headers + 64 * number;
        shared[header + 24..header + 32].copy_from_slice(&0u64.to_le_bytes());
        shared[header + 32..header + 40].copy_from_slice(&whole.to_le_bytes());
    }
    let overlapping = refusal(&shared);
    assert_eq!(overlapping.code, "SASS0026");
    assert!(overlapping.message.contains("overlap"), "{overlapping}");

    // Damaged files: an error or other words, never a panic.
    let good = elf(EM_CUDA, SM_50, &[(".text.k", &CODE)]);
    for index in 0..good.len() {
        let mut damaged = good.clone();
        damaged[index] ^= 0xff;
        let _ = Cubin::parse(&damaged);
        let _ = Cubin::parse(&good[..index]);
    }
}

#[test]
fn an_instruction_of_maxwell_is_replaced() {
    let before = elf(EM_CUDA, SM_50, &[(".text.saturated", &CODE)]);
    let mut bytes = before.clone();
    patch(&mut bytes, None, 0x30, "FFMA.RZ R0, R2, R3.reuse, c[0x0][0x148];").unwrap();
    let words = &Cubin::parse(&bytes).unwrap().kernels[0].words;
    assert_eq!(words[6], asm_line("FFMA.RZ R0, R2, R3, c[0x0][0x148];").unwrap());
    let (old, new) = (Control(CODE[4]).slots(), Control(words[4]).slots());
    assert_eq!((new[0], new[2]), (old[0], old[2]));
    assert_eq!((new[1].schedule(), new[1].wait(), new[1].reuse()), (old[1].schedule(), old[1].wait(), 2));
    // What is not of the bundle stays.
    assert_eq!((&words[..4], words[5], words[7]), (&CODE[..4], CODE[5], CODE[7]));

    // Its own scheduling takes the place of what was there.
    patch(&mut bytes, Some("saturated"), 0x30, "--:-:-:-:3 FFMA R0, R2, R3, R4;").unwrap();
    let slot = Control(Cubin::parse(&bytes).unwrap().kernels[0].words[4]).slots()[1];
    assert_eq!((slot.stall(), slot.yields(), slot.reuse()), (3, false, 0));

    // What the text does not write of it stays.
    patch(&mut bytes, None, 0x30, "FFMA R0, R2, R3, R4 &req={2};").unwrap();
    let slot = Control(Cubin::parse(&bytes).unwrap().kernels[0].words[4]).slots()[1];
    assert_eq!((slot.stall(), slot.yields(), slot.wait()), (3, false, 4));
    let notes = patch(&mut bytes, None, 0x30, "FFMA32I R0, R2, 0.1, R0;").unwrap();
    assert_eq!(notes.iter().map(|note| note.code).collect::<Vec<_>>(), ["SASS0020"]);

    let refused = |entry, address, text| {
        let mut bytes = before.clone();
        let code = patch(&mut bytes, entry, address, text).unwrap_err().code;
        assert_eq!(bytes, before, "nothing is written");
        code
    };
    let text = "FFMA R0, R2, R3, R4;";
    assert_eq!(refused(None, 0x20, text), "SASS0026", "a control word");
    assert_eq!(refused(None, 0x31, text), "SASS0026");
    assert_eq!(refused(None, 0x40, text), "SASS0026");
    assert_eq!(refused(None, usize::MAX - 7, text), "SASS0026");
    assert_eq!(refused(Some("other"), 0x30, text), "SASS0028");
    assert_eq!(refused(None, 0x30, "FFMA R0, R2, 0.1, R4;"), "SASS0007");
}

#[test]
fn an_instruction_of_a_later_target_is_replaced() {
    // FFMA R5, R8, R9, R5 behind a barrier, then EXIT; a second kernel with EXIT alone.
    let code = [0x0000_0009_0805_7223, 0x004f_ca00_0000_0005, 0x0000_0000_0000_794d, 0x000f_ea00_0380_0000];
    let before = elf_of_version(8, EM_CUDA, 0x0600_5a04, &[(".text.k", &code), (".text.l", &code[2..])]);
    let sm_90 = Target::new(90).unwrap();
    assert_eq!(modern::Cubin::target_of(&before), Some(sm_90));
    let mut bytes = before.clone();
    assert_eq!(patch(&mut bytes, None, 0, "FFMA.RZ R5, R8, R9, R5").unwrap_err().code, "SASS0028");
    patch(&mut bytes, Some("k"), 0, "FFMA.RZ R5, R8, R9, R5").unwrap();
    let kernel = &modern::Cubin::parse(&bytes).unwrap().kernels[0];
    assert_eq!(kernel.words[0], 0x004f_ca00_0000_c005_0000_0009_0805_7223);
    assert_eq!(kernel.words[1], 0x000f_ea00_0380_0000_0000_0000_0000_794d);
    patch(&mut bytes, Some("k"), 0, "[B------:R-:W-:Y:S02] FFMA.RZ R5, R8, R9, R5").unwrap();
    assert_eq!(modern::Cubin::parse(&bytes).unwrap().kernels[0].words[0] >> 105, 0x7e2);
    patch(&mut bytes, Some("k"), 0, "FFMA.RZ R5, R8, R9, R5 &req={1}").unwrap();
    assert_eq!(modern::Cubin::parse(&bytes).unwrap().kernels[0].words[0] >> 105, 0x7e2 | 2 << 11);
    let notes = patch(&mut bytes, Some("k"), 0, "FMUL R5, R8, 0.1").unwrap();
    assert_eq!(notes[0].message, "`0.1` is rounded to 0.10000000149011611938 (0x3dcccccd)");
    assert_eq!(patch(&mut bytes, Some("k"), 8, "FMUL R0, R1, R2").unwrap_err().code, "SASS0026");
    // The stall that is there forbids two of the three to be kept.
    assert_eq!(patch(&mut bytes, Some("k"), 0, "FFMA R5, R8, R9.reuse, R5.reuse").unwrap_err().code, "SASS0013");
    let (findings, unknown) = modern::Cubin::parse(&bytes).unwrap().check();
    assert_eq!((findings.len(), unknown), (0, 2));
    let text = modern::Cubin::parse(&before).unwrap().disassemble(&Layout::default());
    let exit = ".dword 0x000000000000794d, 0x000fea0003800000 /* EXIT */ ;";
    assert_eq!(text, format!(".text.k:\nFFMA R5, R8, R9, R5 ;\n{exit}\n.text.l:\n{exit}\n"));
}

/// A finding says which kernel it is in and the address there.
#[test]
fn findings_have_the_kernel_and_the_address() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kernels/maxwell/programs.sm_50.cubin");
    let mut bytes = std::fs::read(file).unwrap();
    let (name, offset) = {
        let cubin = Cubin::parse(&bytes).unwrap();
        let kernel = cubin.kernels.last().unwrap();
        (kernel.name.clone(), kernel.offset)
    };
    // The first bundle's second instruction.
    bytes[offset + 16..offset + 24].copy_from_slice(&0x59fa_a180_09a7_58d8_u64.to_le_bytes());
    let (findings, _) = Cubin::parse(&bytes).unwrap().check();
    let said: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    let place = format!("kernel `{name}`, 0x0010: ");
    assert!(said.iter().all(|message| message.starts_with(&place)) && !said.is_empty(), "{said:?}");
}
