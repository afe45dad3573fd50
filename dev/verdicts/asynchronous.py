#!/usr/bin/env python3
"""Asks NVIDIA's assembler since when it takes each form of the asynchronous instructions, and records the answers.

    dev/verdicts/asynchronous.py       # writes vectors/edge/ptx/asynchronous-verdicts.tsv

Needs pip (ptxas.py). The forms are those of bulk copies, barrier objects, clusters, tensor maps and multicast memory,
each with one kind of operands: `check` looks at their versions and targets alone. crates/ptx/tests/asynchronous_verdicts.rs
holds it against the record, without an assembler.
"""

import collections
import concurrent.futures
import datetime
import itertools
import os

from ptxas import NEWEST, PACKAGES, REGISTERS, ROOT, VERSIONS, install, taken

OUT = os.path.join(ROOT, "vectors", "edge", "ptx", "asynchronous-verdicts.tsv")
TARGETS = {
    "12.9": "70 72 75 80 86 87 89 90 90a 100 100a 100f 101 101a 101f 103 103a 103f 120 120a 120f 121a",
    "13.5": "75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 107 107a 107f 110 110a 110f 120 120a 120f 121a",
}
VARIABLES = ".global .align 16 .b8 G[64];\n.shared .align 16 .b8 S[64];\n"
COMPLETES = ".mbarrier::complete_tx::bytes"
COORDINATES = {1: "{%r1}", 2: "{%r1, %r2}", 3: "{%r1, %r2, %r3}", 4: "{%r1, %r2, %r3, %r4}", 5: "{%r1, %r2, %r3, %r4, %r5}"}


def barrier_objects():
    spaces = ("", ".shared", ".shared::cta")
    for space in spaces:
        at = "[%q1]" if not space else "[S]"
        yield f"mbarrier.init{space}.b64 {at}, 4"
        yield f"mbarrier.inval{space}.b64 {at}"
        for sem in ("", ".release.cta", ".release.cluster", ".relaxed.cta", ".relaxed.cluster"):
            for name in ("arrive", "arrive_drop"):
                yield f"mbarrier.{name}{sem}{space}.b64 %q2, {at}"
                yield f"mbarrier.{name}{sem}{space}.b64 %q2, {at}, %r1"
                yield f"mbarrier.{name}{sem}{space}.b64 _, {at}"
                yield f"mbarrier.{name}.expect_tx{sem}{space}.b64 %q2, {at}, %r1"
        for name in ("arrive", "arrive_drop"):
            yield f"mbarrier.{name}.noComplete{space}.b64 %q2, {at}, %r1"
            yield f"mbarrier.{name}.noComplete.release.cta{space}.b64 %q2, {at}, %r1"
        for name, state in itertools.product(("test_wait", "try_wait"), ("", ".parity")):
            for sem in ("", ".acquire.cta", ".acquire.cluster", ".relaxed.cta", ".relaxed.cluster"):
                last = "%r1" if state else "%q2"
                yield f"mbarrier.{name}{state}{sem}{space}.b64 %p1, {at}, {last}"
                if name == "try_wait":
                    yield f"mbarrier.{name}{state}{sem}{space}.b64 %p1, {at}, {last}, %r2"
    for space in spaces + (".shared::cluster",):
        at = "[%q1]" if not space else "[S]"
        for name, sem in itertools.product(("expect_tx", "complete_tx"), ("", ".relaxed.cta", ".relaxed.cluster")):
            yield f"mbarrier.{name}{sem}{space}.b64 {at}, %r1"
    for name, sem in itertools.product(("arrive", "arrive_drop"), ("", ".release.cluster", ".relaxed.cluster")):
        yield f"mbarrier.{name}{sem}.shared::cluster.b64 _, [S]"
        yield f"mbarrier.{name}{sem}.shared::cluster.b64 _, [S], %r1"
        yield f"mbarrier.{name}.expect_tx{sem}.shared::cluster.b64 _, [S], %r1"
    yield "mbarrier.pending_count.b64 %r1, %q1"


def stores():
    to = ".shared::cluster"
    for weak, ty in itertools.product(("", ".weak"), "b32 b64 u32 u64 s32 s64 f32 f64".split()):
        register = "%q1" if "64" in ty else "%r1"
        yield f"st.async{weak}{to}{COMPLETES}.{ty} [S], {register}, [S]"
    for ty in ("b32", "f32", "u64"):
        register = "q" if "64" in ty else "r"
        yield f"st.async{to}{COMPLETES}.v2.{ty} [S], {{%{register}1, %{register}2}}, [S]"
    yield f"st.async{to}{COMPLETES}.v4.u32 [S], {{%r1, %r2, %r3, %r4}}, [S]"
    # Of `.mmio` the manual has `.sys` alone.
    for (mmio, scope), ty in itertools.product((("", "gpu"), ("", "sys"), (".mmio", "sys")), ("b32", "u64")):
        register = "%q1" if "64" in ty else "%r1"
        yield f"st.async{mmio}.release.{scope}.global.{ty} [G], {register}"
        yield f"red.async{mmio}.release.{scope}.global.add.{ty.replace('b32', 'u32')} [G], {register}"
    yield "st.bulk [%q1], %q2, 0"
    yield "st.bulk.weak [%q1], %q2, 0"
    for weak in ("", ".weak"):
        yield f"st.bulk{weak}.shared::cta [%r1], %q2, 0"
    for op, ty in [(op, "u32") for op in ("inc", "dec", "min", "max", "add")] + [
        ("add", "s32"), ("min", "s32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"), ("add", "u64"),
    ]:
        register = "%q1" if "64" in ty else "%r1"
        yield f"red.async.relaxed.cluster{to}{COMPLETES}.{op}.{ty} [S], {register}, [S]"


def bulk_copies():
    hint = ".L2::cache_hint"
    for to in (".shared::cluster", ".shared::cta"):
        yield f"cp.async.bulk{to}.global{COMPLETES} [S], [G], %r1, [S]"
        yield f"cp.async.bulk{to}.global{COMPLETES}{hint} [S], [G], %r1, [S], %q1"
    yield f"cp.async.bulk.shared::cluster.global{COMPLETES}.multicast::cluster [S], [G], %r1, [S], %h1"
    yield f"cp.async.bulk.shared::cluster.global{COMPLETES}.multicast::cluster{hint} [S], [G], %r1, [S], %h1, %q1"
    yield f"cp.async.bulk.shared::cluster.shared::cta{COMPLETES} [S], [S], %r1, [S]"
    yield "cp.async.bulk.global.shared::cta.bulk_group [G], [S], %r1"
    yield f"cp.async.bulk.global.shared::cta.bulk_group{hint} [G], [S], %r1, %q1"
    yield "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [G], [S], %r1, %h1"
    yield f"cp.async.bulk.shared::cta.global{COMPLETES}.ignore_oob [S], [G], %r1, %r2, %r3, [S]"
    yield "cp.async.bulk.commit_group"
    yield "cp.async.bulk.wait_group 0"
    yield "cp.async.bulk.wait_group.read 0"
    yield "cp.async.bulk.prefetch.L2.global [G], %r1"
    yield f"cp.async.bulk.prefetch.L2.global{hint} [G], %r1, %q1"
    reduce = "cp.reduce.async.bulk"
    for op, ty in (("and", "b32"), ("add", "u32"), ("add", "s32"), ("add", "u64"), ("inc", "u32"), ("dec", "u32"), ("min", "s32"),
                   ("max", "u32")):
        yield f"{reduce}.shared::cluster.shared::cta{COMPLETES}.{op}.{ty} [S], [S], %r1, [S]"
    for op, ty in (("and", "b32"), ("or", "b64"), ("add", "u32"), ("add", "u64"), ("add", "f32"), ("add", "f64"), ("add", "noftz.f16"),
                   ("add", "noftz.bf16"), ("min", "f16"), ("max", "bf16"), ("min", "s64"), ("inc", "u32")):
        yield f"{reduce}.global.shared::cta.bulk_group.{op}.{ty} [G], [S], %r1"
        yield f"{reduce}.global.shared::cta.bulk_group{hint}.{op}.{ty} [G], [S], %r1, %q1"


def tensor_copies():
    hint, bulk = ".L2::cache_hint", "cp.async.bulk"
    spaces = (".shared::cluster.global", ".shared::cta.global")
    for dim, space in itertools.product((1, 2, 5), spaces):
        at = f"[S], [%q1, {COORDINATES[dim]}], [S]"
        yield f"{bulk}.tensor.{dim}d{space}.tile{COMPLETES} {at}"
        yield f"{bulk}.tensor.{dim}d{space}{COMPLETES} {at}"
        yield f"{bulk}.tensor.{dim}d{space}{COMPLETES}{hint} {at}, %q2"
    for dim, space in itertools.product((3, 4, 5), spaces):
        at = f"[S], [%q1, {COORDINATES[dim]}], [S]"
        offsets = {3: "{%h1}", 4: "{%h1, %h2}", 5: "{%h1, %h2, %h3}"}[dim]
        yield f"{bulk}.tensor.{dim}d{space}.im2col{COMPLETES} {at}, {offsets}"
        for mode in (".im2col::w", ".im2col::w::128"):
            yield f"{bulk}.tensor.{dim}d{space}{mode}{COMPLETES} {at}, {{%h1, %h2}}"
    for space in spaces:
        yield f"{bulk}.tensor.2d{space}.tile::gather4{COMPLETES} [S], [%q1, {COORDINATES[5]}], [S]"
        for group in (".cta_group::1", ".cta_group::2"):
            yield f"{bulk}.tensor.2d{space}.tile{COMPLETES}{group} [S], [%q1, {COORDINATES[2]}], [S]"
    yield f"{bulk}.tensor.2d{spaces[0]}.tile{COMPLETES}.multicast::cluster [S], [%q1, {COORDINATES[2]}], [S], %h1"
    yield f"{bulk}.tensor.2d{spaces[0]}.tile{COMPLETES}.multicast::cluster.cta_group::2 [S], [%q1, {COORDINATES[2]}], [S], %h1"
    out = ".global.shared::cta"
    for dim in (1, 2, 5):
        at = f"[%q1, {COORDINATES[dim]}], [S]"
        yield f"{bulk}.tensor.{dim}d{out}.tile.bulk_group {at}"
        yield f"{bulk}.tensor.{dim}d{out}.bulk_group {at}"
        yield f"{bulk}.tensor.{dim}d{out}.bulk_group{hint} {at}, %q2"
    yield f"{bulk}.tensor.3d{out}.im2col_no_offs.bulk_group [%q1, {COORDINATES[3]}], [S]"
    yield f"{bulk}.tensor.2d{out}.tile::scatter4.bulk_group [%q1, {COORDINATES[5]}], [S]"
    for op in "add min max inc dec and or xor".split():
        yield f"cp.reduce.async.bulk.tensor.2d{out}.{op}.tile.bulk_group [%q1, {COORDINATES[2]}], [S]"
    yield f"cp.reduce.async.bulk.tensor.2d{out}.add.bulk_group{hint} [%q1, {COORDINATES[2]}], [S], %q2"
    yield f"cp.reduce.async.bulk.tensor.3d{out}.add.im2col_no_offs.bulk_group [%q1, {COORDINATES[3]}], [S]"
    prefetch = f"{bulk}.prefetch.tensor"
    for dim in (1, 5):
        yield f"{prefetch}.{dim}d.L2.global.tile [%q1, {COORDINATES[dim]}]"
        yield f"{prefetch}.{dim}d.L2.global [%q1, {COORDINATES[dim]}]"
        yield f"{prefetch}.{dim}d.L2.global{hint} [%q1, {COORDINATES[dim]}], %q2"
    yield f"{prefetch}.3d.L2.global.im2col [%q1, {COORDINATES[3]}], {{%h1}}"
    for mode in (".im2col::w", ".im2col::w::128"):
        yield f"{prefetch}.3d.L2.global{mode} [%q1, {COORDINATES[3]}], {{%h1, %h2}}"
    yield f"{prefetch}.2d.L2.global.tile::gather4 [%q1, {COORDINATES[5]}]"
    for space in ("", ".param", ".const"):
        yield f"prefetch{space}.tensormap [%q1]"


def tensor_maps():
    for field, ty, value in (("global_address", "b64", "%q2"), ("rank", "b32", "1"), ("rank", "b32", "%r1"), ("elemtype", "b32", "1"),
                             ("interleave_layout", "b32", "1"), ("swizzle_mode", "b32", "1"), ("fill_mode", "b32", "1"),
                             ("swizzle_atomicity", "b32", "1")):
        yield f"tensormap.replace.tile.{field}.shared::cta.b1024.{ty} [S], {value}"
        yield f"tensormap.replace.tile.{field}.global.b1024.{ty} [G], {value}"
        yield f"tensormap.replace.tile.{field}.b1024.{ty} [%q1], {value}"
    for field, ty, value in (("box_dim", "b32", "%r1"), ("global_dim", "b32", "%r1"), ("global_stride", "b64", "%q2"),
                             ("element_stride", "b32", "%r1")):
        yield f"tensormap.replace.tile.{field}.shared::cta.b1024.{ty} [S], 1, {value}"
    for scope in ("cta", "cluster", "gpu", "sys"):
        proxy = ".proxy.tensormap::generic"
        yield f"tensormap.cp_fenceproxy.global.shared::cta{proxy.replace('.proxy.', '.')}.release.{scope}.sync.aligned [G], [S], 128"
        yield f"fence{proxy}.release.{scope}"
        yield f"fence{proxy}.acquire.{scope} [%q1], 128"


def clusters():
    for sem, aligned in itertools.product(("", ".release", ".relaxed"), ("", ".aligned")):
        yield f"barrier.cluster.arrive{sem}{aligned}"
    for sem, aligned in itertools.product(("", ".acquire"), ("", ".aligned")):
        yield f"barrier.cluster.wait{sem}{aligned}"
    yield "fence.mbarrier_init.release.cluster"
    for proxy in ("", ".proxy.async::generic"):
        yield f"fence{proxy}.acquire.sync_restrict::shared::cluster.cluster"
        yield f"fence{proxy}.release.sync_restrict::shared::cta.cluster"
    for ty, register in (("u32", "r"), ("u64", "q")):
        for space in ("", ".shared::cluster"):
            yield f"mapa{space}.{ty} %{register}1, %{register}2, %r3"
            yield f"getctarank{space}.{ty} %r1, %{register}2"
    cancel = "clusterlaunchcontrol.try_cancel.async"
    for space in ("", ".shared::cta"):
        at = "[S], [S]" if space else "[%q1], [%q2]"
        yield f"{cancel}{space}{COMPLETES}.b128 {at}"
        yield f"{cancel}{space}{COMPLETES}.multicast::cluster::all.b128 {at}"
    for action in ("inc", "dec"):
        yield f"setmaxnreg.{action}.sync.aligned.u32 64"
    yield "griddepcontrol.wait"
    yield "griddepcontrol.launch_dependents"
    yield "elect.sync %r1|%p1, %r2"


def multicast():
    for sem, ty in itertools.product(("", ".weak", ".relaxed.gpu", ".acquire.sys"), ("u32", "u64", "s32", "b32")):
        register = "q" if "64" in ty else "r"
        op = "and" if ty == "b32" else "add"
        yield f"multimem.ld_reduce{sem}.global.{op}.{ty} %{register}1, [G]"
    for sem, ty in itertools.product(("", ".weak", ".relaxed.gpu", ".release.sys"), ("u32", "u64", "f32", "f16x2", "bf16x2", "b64")):
        register = "q" if "64" in ty else "r"
        yield f"multimem.st{sem}.global.{ty} [G], %{register}1"
    for sem, ty in itertools.product(("", ".relaxed.gpu", ".release.sys"), ("u32", "u64", "f32", "f16x2", "bf16x2", "b64")):
        register, op = "q" if "64" in ty else "r", "xor" if ty == "b64" else "add"
        yield f"multimem.red{sem}.global.{op}.{ty} [G], %{register}1"
    for ty in ("f16x2", "bf16x2", "f32"):
        yield f"multimem.ld_reduce.global.add.{ty} %r1, [G]"
        yield f"multimem.ld_reduce.global.add.v2.{ty} {{%r1, %r2}}, [G]"
        yield f"multimem.ld_reduce.global.add.v4.{ty} {{%r1, %r2, %r3, %r4}}, [G]"
        yield f"multimem.st.global.v4.{ty} [G], {{%r1, %r2, %r3, %r4}}"
        yield f"multimem.red.global.add.v4.{ty} [G], {{%r1, %r2, %r3, %r4}}"
    for ty in ("f16x2", "bf16x2"):
        yield f"multimem.ld_reduce.global.add.acc::f32.{ty} %r1, [G]"
    for ty, acc in itertools.product(("e4m3x4", "e5m2x4"), ("", ".acc::f16")):
        yield f"multimem.ld_reduce.global.add{acc}.{ty} %r1, [G]"
        yield f"multimem.ld_reduce.global.add{acc}.v4.{ty} {{%r1, %r2, %r3, %r4}}, [G]"
    for ty in ("e4m3x4", "e5m2x4"):
        yield f"multimem.st.global.{ty} [G], %r1"
    halves = ", ".join(f"%h{each}" for each in range(8))
    for op, ty in itertools.product(("add", "min"), ("e4m3x2", "e5m2x2")):
        yield f"multimem.ld_reduce.global.{op}.v8.{ty} {{{halves}}}, [G]"
    for ty in ("e4m3", "e5m2"):
        yield f"multimem.ld_reduce.global.add.v8.{ty} {{{halves.replace('h', 'b')}}}, [G]"
    yield f"multimem.ld_reduce.global.add.v8.f16 {{{halves}}}, [G]"
    yield "multimem.ld_reduce.global.min.s64 %q1, [G]"
    yield "multimem.cp.async.bulk.global.shared::cta.bulk_group [G], [S], %r1"
    yield "multimem.cp.async.bulk.global.shared::cta.bulk_group.cp_mask [G], [S], %r1, %h1"
    for op, ty in (("add", "u32"), ("add", "f32"), ("add", "noftz.f16"), ("and", "b32")):
        yield f"multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{ty} [G], [S], %r1"


def others():
    for space in ("", ".shared", ".shared::cta"):
        for counts in ("", ".noinc"):
            yield f"cp.async.mbarrier.arrive{counts}{space}.b64 [{'S' if space else '%q1'}]"
    for space in ("", ".global", ".shared::cta", ".shared::cluster"):
        yield f"fence.proxy.async{space}"
    for op, ty in (("add", "u32"), ("and", "b32"), ("min", "s32")):
        yield f"redux.sync.{op}.{ty} %r1, %r2, %r3"
    hint = "createpolicy"
    yield f"{hint}.fractional.L2::evict_last.b64 %q1, 1.0"
    yield f"{hint}.fractional.L2::evict_last.L2::evict_unchanged.b64 %q1, 1.0"
    yield f"{hint}.range.global.L2::evict_last.b64 %q1, [G], %r1, %r2"
    yield f"{hint}.cvt.L2.b64 %q1, %q2"
    yield "applypriority.global.L2::evict_normal [G], 128"
    yield "discard.global.L2 [G], 128"
    for types in ("u16.s32", "s16.s32", "u8.s32.b32", "s8.s32.b32", "u4.s32.b32", "s2.s32.b32"):
        yield f"cvt.pack.sat.{types} %r1, %r2, %r3" + (", %r4" if types.endswith("b32") else "")


FORMS = [*barrier_objects(), *stores(), *bulk_copies(), *tensor_copies(), *tensor_maps(), *clusters(), *multicast(), *others()]


def number(version):
    return [int(part) for part in version.split(".")]


def places():
    for tool, targets in TARGETS.items():
        for target, version in itertools.product(targets.split(), VERSIONS):
            is_its = number(version) <= number(NEWEST["12.9"]) if tool == "12.9" else number(version) > number(NEWEST["12.9"])
            if is_its and number(version) >= [6, 0]:
                yield tool, target, version


def main():
    tools = install()
    lines = [f"{form};" for form in FORMS]
    assert len(set(lines)) == len(lines)

    def ask(place):
        tool, target, version = place
        return taken(tools[tool], target, version, lines, REGISTERS, VARIABLES)

    all_places = list(places())
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(ask, all_places))
    nowhere = [form for at, form in enumerate(FORMS) if not any(answer and answer[at] for answer in answers)]
    assert not nowhere, nowhere
    known = [(place, answer) for place, answer in zip(all_places, answers) if answer is not None]
    groups = collections.defaultdict(list)
    for at, form in enumerate(FORMS):
        groups[tuple(index for index, (_, answer) in enumerate(known) if answer[at])].append(form)
    with open(OUT, "w") as out:
        out.write("# Since when NVIDIA's assembler takes each form of the asynchronous instructions,\n")
        out.write(f"# ptxas {PACKAGES['12.9'].split('==')[1]} (to PTX 8.8) and {PACKAGES['13.5'].split('==')[1]}:\n")
        out.write(f"# dev/verdicts/asynchronous.py, {datetime.date.today()}.\n")
        out.write("# place: a target and a PTX version. taken: the places, then what is taken there and at no other of these.\n")
        out.write("registers\t" + " ".join(f"{letter}={ty}" for letter, ty in REGISTERS.items()) + "\n")
        for (_, target, version), _ in known:
            out.write(f"place\t{target} {version}\n")
        for indices, forms in groups.items():
            runs = []
            for index in indices:
                if runs and runs[-1][1] == index - 1:
                    runs[-1][1] = index
                else:
                    runs.append([index, index])
            out.write("taken\t" + " ".join(f"{a}-{b}" if a < b else f"{a}" for a, b in runs) + "\t" + "; ".join(forms) + "\n")
    print(f"{len(FORMS)} forms at {len(known)} places")


main()
