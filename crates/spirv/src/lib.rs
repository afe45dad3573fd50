//! SPIR-V's fused multiply-add, `OpFmaKHR` of SPV_KHR_fma: its rows.

pub mod forms;
