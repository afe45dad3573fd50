// What wasm-bindgen makes of bindings/wasm.
declare module "roundonce" {
  export default function init(from: { module_or_path: string }): Promise<unknown>;
  export function bits(request: string): string;
  export function evaluate(request: string): string;
  export function explain(request: string): string;
  export function why(request: string): string;
  export function cases(request: string): string;
  export function diff(request: string): string;
  export function check(request: string): string;
  export function forms(request: string): string;
  export function run(request: string): string;
  export function why_kernel(request: string): string;
}
