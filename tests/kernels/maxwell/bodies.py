"""Kernels that regenerate.py writes into programs.ptx: the name of each, and its body.

A body has the thread's number in the grid (%i) and in its block (%t), its four words (%x, %y, %z, %w), and leaves up to
eight words at [%o]. Registers: %r and %s 32 bits, %d 64 bits, %f f32, %e f64, %h 16 bits, %p predicates.
"""

#: Before the kernels: variables, tables, functions.
HEAD = """
.global .align 4 .b32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
.global .align 8 .f64 golden = 0d3FF9E3779B97F4A8;
.global .align 4 .b32 marks[512];
.const .align 4 .b32 polynomial[4] = {0xedb88320, 0x82f63b78, 0xd5828281, 0x04c11db7};
.const .align 2 .b16 squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

.func (.reg .b32 result) mixed(.reg .b32 a, .reg .b32 b)
{
	.reg .b32 %q, %v;
	.reg .pred %c;
	setp.lt.s32 %c, a, b;
	@%c bra LESS;
	sub.s32 %q, a, b;
	mul.lo.s32 result, %q, 7;
	ret;
LESS:
	xor.b32 %v, a, b;
	add.s32 result, %v, 13;
	ret;
}

.func (.reg .b32 result) outer(.reg .b32 a, .reg .b32 b)
{
	.reg .b32 %q, %v;
	call (%q), mixed, (a, b);
	call (%v), mixed, (b, %q);
	add.s32 result, %q, %v;
	ret;
}
"""

BODIES = {
    "shuffle_sum": """
	mov.b32 %r0, %x;
	shfl.sync.bfly.b32 %r1, %r0, 16, 0x1f, -1; add.u32 %r0, %r0, %r1;
	shfl.sync.bfly.b32 %r1, %r0, 8, 0x1f, -1; add.u32 %r0, %r0, %r1;
	shfl.sync.bfly.b32 %r1, %r0, 4, 0x1f, -1; add.u32 %r0, %r0, %r1;
	shfl.sync.bfly.b32 %r1, %r0, 2, 0x1f, -1; add.u32 %r0, %r0, %r1;
	shfl.sync.bfly.b32 %r1, %r0, 1, 0x1f, -1; add.u32 %r0, %r0, %r1;
	st.global.u32 [%o], %r0;""",
    "shuffle_scan": """
	mov.b32 %r0, %y;
	shfl.sync.up.b32 %r1|%p0, %r0, 1, 0, -1; @%p0 add.u32 %r0, %r0, %r1;
	shfl.sync.up.b32 %r1|%p0, %r0, 2, 0, -1; @%p0 add.u32 %r0, %r0, %r1;
	shfl.sync.up.b32 %r1|%p0, %r0, 4, 0, -1; @%p0 add.u32 %r0, %r0, %r1;
	shfl.sync.up.b32 %r1|%p0, %r0, 8, 0, -1; @%p0 add.u32 %r0, %r0, %r1;
	shfl.sync.up.b32 %r1|%p0, %r0, 16, 0, -1; @%p0 add.u32 %r0, %r0, %r1;
	st.global.u32 [%o], %r0;""",
    "shuffle_parts": """
	and.b32 %r1, %y, 31;
	shfl.sync.idx.b32 %r2|%p0, %x, %r1, 0x181f, -1;
	shfl.sync.down.b32 %r3|%p1, %y, 3, 0x1807, -1;
	shfl.sync.idx.b32 %r4, %z, %r1, 0x1f, -1;
	selp.b32 %r5, 1, 0, %p0; @%p1 add.u32 %r5, %r5, 2;
	st.global.v4.u32 [%o], {%r2, %r3, %r4, %r5};""",
    "votes": """
	and.b32 %r0, %x, 3; setp.eq.u32 %p0, %r0, 1; setp.lt.s32 %p1, %y, 0;
	vote.sync.ballot.b32 %r1, %p0, -1; vote.sync.ballot.b32 %r2, %p1, -1;
	vote.sync.any.pred %p2, %p0, -1; vote.sync.all.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p0, -1;
	selp.b32 %r3, 1, 0, %p2; @%p3 or.b32 %r3, %r3, 2; @%p4 or.b32 %r3, %r3, 4;
	mov.u32 %r4, %lanemask_lt; and.b32 %r4, %r4, %r1; popc.b32 %r4, %r4;
	st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};""",
    "divergent_votes": """
	and.b32 %r0, %x, 1; setp.eq.u32 %p0, %r0, 0; mov.u32 %r2, 0;
	@%p0 bra EVEN;
	mul.lo.u32 %r2, %y, %x;
	activemask.b32 %r3;
	bra JOIN;
EVEN:
	add.u32 %r2, %y, %z;
	activemask.b32 %r3;
JOIN:
	st.global.v2.u32 [%o], {%r2, %r3};""",
    "shared_atomics": """
	.shared .align 4 .b32 bins[16];
	setp.lt.u32 %p0, %t, 16; mov.u32 %r0, bins; shl.b32 %r1, %t, 2; add.u32 %r1, %r0, %r1;
	@%p0 st.shared.u32 [%r1], 0;
	bar.sync 0;
	and.b32 %r2, %x, 7; shl.b32 %r2, %r2, 2; add.u32 %r2, %r0, %r2;
	red.shared.add.u32 [%r2], 1;
	red.shared.max.u32 [%r0+32], %y;
	red.shared.xor.b32 [%r0+36], %z;
	red.shared.min.s32 [%r0+40], %w;
	red.shared.or.b32 [%r0+44], %x;
	red.shared.max.s32 [%r0+48], %x;
	bar.sync 0;
	and.b32 %r3, %t, 15; shl.b32 %r3, %r3, 2; add.u32 %r3, %r0, %r3; ld.shared.u32 %r4, [%r3];
	st.global.u32 [%o], %r4;""",
    "shared_locks": """
	.shared .align 8 .b64 total[2];
	setp.eq.u32 %p0, %t, 0; mov.u32 %r0, total;
	@%p0 st.shared.u64 [%r0], 0; @%p0 st.shared.u64 [%r0+8], 0;
	bar.sync 0;
	cvt.u64.u32 %d0, %x; atom.shared.add.u64 %d1, [%r0], %d0;
	ld.shared.u64 %d2, [%r0+8];
AGAIN:
	mul.wide.u32 %d3, %y, 3; add.u64 %d3, %d3, %d2;
	atom.shared.cas.b64 %d4, [%r0+8], %d2, %d3;
	setp.ne.u64 %p1, %d4, %d2; mov.u64 %d2, %d4;
	@%p1 bra AGAIN;
	bar.sync 0;
	ld.shared.u64 %d5, [%r0]; ld.shared.u64 %d6, [%r0+8];
	st.global.u64 [%o], %d5; st.global.u64 [%o+8], %d6;""",
    "global_atomics": """
	st.global.u32 [%o], %x; st.global.u32 [%o+4], %x; st.global.u32 [%o+8], %x; st.global.u64 [%o+16], %X;
	atom.global.add.u32 %r0, [%o], %y; atom.global.exch.b32 %r1, [%o+4], %y; atom.global.cas.b32 %r2, [%o+8], %y, %z;
	atom.global.inc.u32 %r3, [%o], %z; atom.global.dec.u32 %r4, [%o+4], %z; atom.global.min.s32 %r5, [%o+8], %w;
	atom.global.add.u64 %d0, [%o+16], %Y; atom.global.and.b32 %r6, [%o], %w;
	add.u32 %r0, %r0, %r1; xor.b32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3; xor.b32 %r0, %r0, %r4; sub.u32 %r0, %r0, %r5;
	add.u32 %r0, %r0, %r6; cvt.u32.u64 %r7, %d0; st.global.u32 [%o+24], %r0; st.global.u32 [%o+28], %r7;""",
    "barrier_reductions": """
	and.b32 %r0, %x, 1; setp.eq.u32 %p0, %r0, 1; setp.ne.u32 %p1, %y, %x;
	bar.red.popc.u32 %r1, 0, %p0;
	bar.red.and.pred %p2, 0, %p1;
	bar.red.or.pred %p3, 1, %p0;
	bar.red.or.pred %p4, 0, !%p1;
	selp.b32 %r2, 1, 0, %p2; @%p3 or.b32 %r2, %r2, 2; @%p4 or.b32 %r2, %r2, 4;
	st.global.v2.u32 [%o], {%r1, %r2};""",
    "transposed": """
	.shared .align 4 .b32 tile[272];
	mov.u32 %r0, tile; and.b32 %r1, %t, 15; shr.u32 %r2, %t, 4;
	mad.lo.u32 %r3, %r2, 17, %r1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r0, %r3; st.shared.u32 [%r3], %x;
	bar.sync 0;
	mad.lo.u32 %r4, %r1, 17, %r2; shl.b32 %r4, %r4, 2; add.u32 %r4, %r0, %r4; ld.shared.u32 %r5, [%r4];
	st.global.u32 [%o], %r5;""",
    "named_barriers": """
	.shared .align 4 .b32 box[256];
	mov.u32 %r0, box; shl.b32 %r1, %t, 2; add.u32 %r1, %r0, %r1;
	setp.lt.u32 %p0, %t, 128;
	@%p0 bra CONSUME;
	mul.lo.u32 %r2, %x, 3; st.shared.u32 [%r1], %r2; bar.arrive 3, 256;
	st.global.u32 [%o], %r2;
	bra END;
CONSUME:
	bar.sync 3, 256;
	ld.shared.u32 %r3, [%r1+512]; st.global.u32 [%o], %r3;
END:""",
    "collatz": """
	and.b32 %r0, %x, 0xffff; or.b32 %r0, %r0, 1; mov.u32 %r1, 0;
STEP:
	setp.le.u32 %p0, %r0, 1; @%p0 bra DONE;
	setp.gt.u32 %p3, %r1, 400; @%p3 bra DONE;
	and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; add.u32 %r1, %r1, 1;
	@%p1 bra HALF;
	mad.lo.u32 %r0, %r0, 3, 1;
	bra STEP;
HALF:
	shr.u32 %r0, %r0, 1;
	bra STEP;
DONE:
	st.global.v2.u32 [%o], {%r0, %r1};""",
    "greatest_divisor": """
	mov.b32 %r0, %x; mov.b32 %r1, %y;
STEP:
	setp.eq.u32 %p0, %r1, 0; @%p0 bra DONE;
	rem.u32 %r2, %r0, %r1; mov.b32 %r0, %r1; mov.b32 %r1, %r2;
	bra STEP;
DONE:
	st.global.u32 [%o], %r0;""",
    "nested_loops": """
	and.b32 %r0, %x, 7; and.b32 %r1, %y, 15; mov.u32 %r2, 0; mov.u32 %r3, 0;
OUTER:
	setp.gt.u32 %p0, %r2, %r0; @%p0 bra DONE;
	mov.u32 %r4, 0;
INNER:
	setp.gt.u32 %p1, %r4, %r1; @%p1 bra NEXT;
	mad.lo.u32 %r3, %r3, 31, %r4; xor.b32 %r5, %r3, %z; and.b32 %r5, %r5, 63;
	setp.eq.u32 %p2, %r5, 9; @%p2 bra NEXT;
	setp.eq.u32 %p3, %r5, 17; @%p3 bra DONE;
	add.u32 %r4, %r4, 1;
	bra INNER;
NEXT:
	add.u32 %r2, %r2, 1;
	bra OUTER;
DONE:
	st.global.v2.u32 [%o], {%r2, %r3};""",
    "early_exits": """
	.shared .align 4 .b32 kept[256];
	mov.u32 %r0, kept; shl.b32 %r1, %t, 2; add.u32 %r1, %r0, %r1; st.shared.u32 [%r1], %x;
	bar.sync 0;
	and.b32 %r2, %y, 3; setp.eq.u32 %p0, %r2, 0;
	@%p0 ret;
	xor.b32 %r3, %r1, 4; ld.shared.u32 %r4, [%r3];
	setp.lt.s32 %p1, %r4, 0;
	@%p1 st.global.u32 [%o], %r4;
	@%p1 ret;
	add.u32 %r4, %r4, 1; st.global.u32 [%o], %r4;""",
    "table_jump": """
	and.b32 %r0, %x, 3;
	ts: .branchtargets A0, A1, A2, A3;
	mov.u32 %r1, 0;
	brx.idx %r0, ts;
A0:
	add.u32 %r1, %y, 1; bra JOIN;
A1:
	sub.u32 %r1, %y, %z; bra JOIN;
A2:
	shl.b32 %r1, %y, 3;
A3:
	xor.b32 %r1, %r1, %w;
JOIN:
	st.global.u32 [%o], %r1;""",
    "calls": """
	and.b32 %r0, %x, 255; and.b32 %r1, %y, 255;
	call (%r2), outer, (%r0, %r1);
	setp.gt.s32 %p0, %r2, 100;
	@%p0 bra MORE;
	bra END;
MORE:
	call (%r2), outer, (%r1, %r0);
END:
	st.global.u32 [%o], %r2;""",
    "local_sort": """
	.local .align 4 .b32 a[4];
	mov.u32 %r10, a;
	st.local.u32 [a], %x; st.local.u32 [a+4], %y; st.local.u32 [a+8], %z; st.local.u32 [a+12], %w;
	mov.u32 %r0, 4;
OUTER:
	setp.ge.u32 %p0, %r0, 16; @%p0 bra DONE;
	add.u32 %r1, %r10, %r0; ld.local.s32 %r2, [%r1]; mov.b32 %r3, %r0;
INNER:
	setp.eq.u32 %p1, %r3, 0; @%p1 bra PUT;
	add.u32 %r4, %r10, %r3; ld.local.s32 %r5, [%r4+-4];
	setp.le.s32 %p2, %r5, %r2; @%p2 bra PUT;
	st.local.s32 [%r4], %r5; sub.u32 %r3, %r3, 4;
	bra INNER;
PUT:
	add.u32 %r6, %r10, %r3; st.local.s32 [%r6], %r2;
	add.u32 %r0, %r0, 4;
	bra OUTER;
DONE:
	ld.local.u32 %r1, [a]; ld.local.u32 %r2, [a+4]; ld.local.u32 %r3, [a+8]; ld.local.u32 %r4, [a+12];
	st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};""",
    "generic_addresses": """
	.local .align 8 .b32 own[4];
	.shared .align 8 .b32 of_block[512];
	mov.u64 %d0, own; cvta.local.u64 %d0, %d0; mov.u64 %d1, of_block; cvta.shared.u64 %d1, %d1;
	mul.wide.u32 %d2, %t, 8; add.u64 %d1, %d1, %d2;
	and.b32 %r0, %x, 1; setp.eq.u32 %p0, %r0, 0; selp.b64 %d3, %d0, %d1, %p0;
	st.v2.u32 [%d3], {%y, %z}; ld.u32 %r1, [%d3+4]; ld.u32 %r2, [%d3];
	st.global.v2.u32 [%o], {%r1, %r2};""",
    "variables": """
	and.b32 %r0, %x, 7; mul.wide.u32 %d0, %r0, 4; mov.u64 %d1, primes; add.u64 %d1, %d1, %d0; ld.global.u32 %r1, [%d1];
	ld.global.f64 %e0, [golden]; cvt.rn.f64.s32 %e1, %y; mul.rn.f64 %e1, %e1, %e0;
	mul.wide.u32 %d2, %i, 4; mov.u64 %d3, marks; add.u64 %d3, %d3, %d2;
	atom.global.add.u32 %r2, [%d3], %r1; ld.global.u32 %r3, [%d3];
	ld.global.u32 %r4, [primes+8];
	st.global.u32 [%o], %r1; st.global.u32 [%o+4], %r3; st.global.f64 [%o+8], %e1; st.global.u32 [%o+16], %r4;
	st.global.u32 [%o+20], %r2;""",
    "checksum": """
	and.b32 %r0, %w, 3; shl.b32 %r0, %r0, 2; mov.u32 %r1, polynomial; add.u32 %r1, %r1, %r0; ld.const.u32 %r2, [%r1];
	mov.b32 %r3, %x; mov.u32 %r4, 0;
BIT:
	and.b32 %r5, %r3, 1; neg.s32 %r5, %r5; and.b32 %r5, %r5, %r2; shr.u32 %r3, %r3, 1; xor.b32 %r3, %r3, %r5;
	add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 32; @%p0 bra BIT;
	and.b32 %r6, %y, 7; shl.b32 %r6, %r6, 1; mov.u32 %r7, squares; add.u32 %r7, %r7, %r6; ld.const.u16 %r8, [%r7];
	st.global.v2.u32 [%o], {%r3, %r8};""",
    "wide_product": """
	mul.lo.u64 %d0, %X, %Y; mul.hi.u64 %d1, %X, %Y; mul.hi.s64 %d2, %X, %Y; mad.lo.u64 %d3, %X, %X, %Y;
	st.global.u64 [%o], %d0; st.global.u64 [%o+8], %d1; st.global.u64 [%o+16], %d2; st.global.u64 [%o+24], %d3;""",
    "carry_chains": """
	mul.lo.u32 %r0, %x, %y; mul.hi.u32 %r1, %x, %y;
	mad.lo.cc.u32 %r2, %x, %z, %r1; madc.hi.u32 %r3, %x, %z, 0;
	mad.lo.cc.u32 %r2, %y, %w, %r2; madc.hi.cc.u32 %r3, %y, %w, %r3; addc.u32 %r4, 0, 0;
	add.cc.u32 %r5, %r0, %w; addc.cc.u32 %r6, %r2, %z; addc.cc.u32 %r7, %r3, %y; addc.u32 %r8, %r4, %x;
	sub.cc.u32 %r5, %r5, %y; subc.cc.u32 %r6, %r6, %x; subc.u32 %r7, %r7, %w;
	st.global.v4.u32 [%o], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%o+16], {%r0, %r2, %r3, %r4};""",
    "power_modulo": """
	or.b32 %r0, %z, 1; cvt.u64.u32 %d0, %r0; cvt.u64.u32 %d1, %x; rem.u64 %d1, %d1, %d0; mov.u64 %d2, 1;
	and.b32 %r1, %y, 0xff;
STEP:
	setp.eq.u32 %p0, %r1, 0; @%p0 bra DONE;
	and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;
	@%p1 bra EVEN;
	mul.lo.u64 %d2, %d2, %d1; rem.u64 %d2, %d2, %d0;
EVEN:
	mul.lo.u64 %d1, %d1, %d1; rem.u64 %d1, %d1, %d0; shr.u32 %r1, %r1, 1;
	bra STEP;
DONE:
	st.global.u64 [%o], %d2;""",
    "long_division": """
	or.b64 %d0, %Y, 1; div.u64 %d1, %X, %d0; rem.s64 %d2, %X, %d0; div.s64 %d3, %Y, 1000003;
	st.global.u64 [%o], %d1; st.global.u64 [%o+8], %d2; st.global.u64 [%o+16], %d3;""",
    "rotations": """
	shf.l.wrap.b32 %r0, %x, %x, 7; shf.r.wrap.b32 %r1, %y, %y, %z; xor.b32 %r0, %r0, %r1;
	shl.b64 %d0, %X, 13; shr.u64 %d1, %X, 51; or.b64 %d0, %d0, %d1; xor.b64 %d0, %d0, %Y;
	shr.s64 %d1, %Y, 9; add.s64 %d0, %d0, %d1; prmt.b32 %r2, %x, %y, 0x2537; brev.b32 %r3, %r2; bfind.u32 %r4, %z;
	st.global.u32 [%o], %r0; st.global.u32 [%o+4], %r3; st.global.u64 [%o+8], %d0; st.global.u32 [%o+16], %r4;""",
    "narrow_loads": """
	add.u64 %d0, %a, 3; ld.global.u8 %r0, [%d0]; ld.global.s8 %r1, [%d0+4]; ld.global.s16 %r2, [%a+6]; ld.global.u16 %r3, [%a+10];
	ld.global.v4.u8 {%r4, %r5, %r6, %r7}, [%a+12]; shl.b32 %r5, %r5, 8; or.b32 %r4, %r4, %r5; sub.u32 %r6, %r6, %r7;
	st.global.u8 [%o], %r0; st.global.u16 [%o+2], %r1; st.global.v2.u32 [%o+8], {%r2, %r3}; st.global.v2.u32 [%o+16], {%r4, %r6};""",
    "conversions": """
	cvt.rn.f64.u64 %e0, %X; cvt.rn.f32.f64 %f0, %e0; cvt.rzi.s32.f32 %r0, %f0; cvt.rn.f32.s64 %f1, %Y; cvt.rni.u64.f32 %d0, %f1;
	cvt.rmi.f64.f64 %e1, %e0; cvt.rpi.f32.f32 %f2, %f0; cvt.s8.s32 %r1, %x; cvt.u16.u32 %h0, %y; cvt.rn.f32.u16 %f3, %h0;
	cvt.sat.f32.f32 %f4, %f3; cvt.f64.f32 %e2, %f4;
	st.global.u32 [%o], %r0; st.global.u32 [%o+4], %r1; st.global.u64 [%o+8], %d0; st.global.f64 [%o+16], %e2; st.global.f32 [%o+24], %f2;""",
    "quotients": """
	// A quotient of two NaNs has the payload of either.
	and.b64 %Y, %Y, 0xbfffffffffffffff; mov.b64 %D, %Y;
	div.rn.f32 %f0, %F, %G; sqrt.rn.f32 %f1, %F; rcp.rn.f32 %f2, %G; div.rn.f64 %e0, %E, %D; sqrt.rn.f64 %e1, %E;
	st.global.f32 [%o], %f0; st.global.f32 [%o+4], %f1; st.global.f32 [%o+8], %f2; st.global.f64 [%o+16], %e0; st.global.f64 [%o+24], %e1;""",
    "polynomials": """
	fma.rn.f32 %f0, %F, 0f3F800001, %G; fma.rz.f32 %f1, %f0, %F, 0f3F000000; fma.rm.ftz.f32 %f2, %f1, %G, %F; fma.rp.sat.f32 %f3, %f2, %F, %G;
	mul.rn.f32 %f4, %F, %G; add.rz.f32 %f5, %f4, %F; sub.rm.ftz.f32 %f6, %f5, %G; min.f32 %f7, %f6, %F; max.ftz.f32 %f7, %f7, %G; abs.f32 %f7, %f7;
	st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3}; st.global.v2.f32 [%o+16], {%f6, %f7};""",
    "newton": """
	abs.f64 %e0, %E; add.rn.f64 %e1, %e0, 0d3FF0000000000000; mov.u32 %r0, 0;
STEP:
	div.rn.f64 %e2, %e0, %e1; add.rn.f64 %e2, %e2, %e1; mul.rn.f64 %e2, %e2, 0d3FE0000000000000;
	setp.equ.f64 %p0, %e2, %e1; @%p0 bra DONE; mov.f64 %e1, %e2;
	add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 20; @%p1 bra STEP;
DONE:
	st.global.f64 [%o], %e1; st.global.u32 [%o+8], %r0;""",
    "predicates": """
	setp.lt.and.s32 %p0|%p1, %x, %y, %p9; setp.ge.u32 %p2, %y, %z; setp.ne.or.s32 %p3, %z, %w, %p0;
	and.pred %p4, %p2, %p3; xor.pred %p5, %p4, %p0; not.pred %p6, %p5; or.pred %p7, %p1, %p6;
	selp.b32 %r0, %x, %y, %p4; slct.s32.s32 %r1, %x, %y, %z; slct.u32.f32 %r2, %x, %y, %F; @!%p7 add.u32 %r0, %r0, %r1;
	setp.lt.f32 %p8, %F, %G; selp.b32 %r3, %r0, %r2, %p8; set.gtu.u32.f32 %r4, %F, %G;
	st.global.v4.u32 [%o], {%r0, %r1, %r3, %r4};""",
    "saturated": """
	add.sat.s32 %r0, %x, %y; sub.sat.s32 %r1, %x, %y; sad.s32 %r2, %x, %y, %z; sad.u32 %r3, %x, %y, %z;
	mul24.hi.u32 %r4, %x, %y; mad24.lo.s32 %r5, %x, %y, %z; mad.hi.sat.s32 %r6, %x, %y, %z;
	st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3}; st.global.v2.u32 [%o+16], {%r4, %r5}; st.global.u32 [%o+24], %r6;""",
    "reductions": """
	mov.u64 %d0, marks; and.b32 %r0, %i, 448; mul.wide.u32 %d1, %r0, 4; add.u64 %d0, %d0, %d1;
	red.global.add.u32 [%d0], %x; red.global.and.b32 [%d0+4], %y; red.global.or.b32 [%d0+8], %z; red.global.max.s32 [%d0+12], %w;
	red.global.min.u32 [%d0+16], %y; red.global.xor.b32 [%d0+20], %w;
	bar.sync 0; membar.gl;
	ld.volatile.global.u32 %r1, [%d0]; ld.volatile.global.u32 %r2, [%d0+8]; ld.volatile.global.u32 %r3, [%d0+12]; ld.volatile.global.u32 %r4, [%d0+20];
	st.global.v4.u32 [%o], {%r1, %r2, %r3, %r4};""",
    "video_bytes": """
	vadd.s32.u32.s32.sat %r0, %x.b0, %y.h1; vmax.s32.u32.s32.sat %r1, %x, %y; vmad.s32.s32.s32 %r2, %x.h1, %y.b2, %z;
	vset.s32.u32.lt %r3, %x, %y; vshr.s32.s32.u32.clamp %r4, %x, %y.b0; vabsdiff4.u32.u32.u32.add %r5, %x, %y, %z;
	st.global.v4.u32 [%o], {%r0, %r1, %r2, %r3}; st.global.v2.u32 [%o+16], {%r4, %r5};""",
}
