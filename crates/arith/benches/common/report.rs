//! Tables and a plot for docs/performance.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use super::rounds::Measured;

/// What is written between the comments of docs/performance.md.
#[derive(Default)]
pub(crate) struct Report {
    marks: String,
    tables: String,
    growth: String,
    plot: String,
    absent: Vec<String>,
}

/// Median nanoseconds a lane against the logarithm of lanes.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(u32, f64)>,
}

const BEGIN: &str = "<!-- written by `cargo bench -p roundonce-arith` -->\n";
const END: &str = "<!-- end of what the bench writes -->\n";

impl Report {
    pub(crate) fn at_most(&mut self, work: &str, limit: f64, figure: f64) {
        self.mark(work, &format!("≤ {limit:.2}"), &format!("{figure:.2}"), figure <= limit);
    }
    pub(crate) fn at_least(&mut self, work: &str, limit: f64, figure: f64) {
        self.mark(work, &format!("≥ {limit:.2}"), &format!("{figure:.2}"), figure >= limit);
    }
    pub(crate) fn nanoseconds_at_most(&mut self, work: &str, limit: f64, figure: f64) {
        self.mark(work, &format!("≤ {limit:.1} ns"), &format!("{figure:.1} ns"), figure <= limit);
    }
    fn mark(&mut self, work: &str, limit: &str, figure: &str, met: bool) {
        let met = if met { "met" } else { "**missed**" };
        let _ = writeln!(self.marks, "| {work} | {limit} | {figure} | {met} |");
    }

    /// A group's contenders, the first of which ratios are to.
    pub(crate) fn rows(&mut self, group: &str, rows: &[Measured]) {
        let _ = write!(self.tables, "\n| {group} | ns | quartiles | ratio | quartiles |\n|---|---:|---:|---:|---:|\n");
        for Measured { name, nanoseconds: [low, median, high], ratio: [less, ratio, more] } in rows {
            let name = name.strip_prefix("flush: ").unwrap_or(name);
            let _ = writeln!(
                self.tables,
                "| {name} | {} | {}–{} | {ratio:.2} | {less:.2}–{more:.2} |",
                digits(*median),
                digits(*low),
                digits(*high)
            );
        }
    }

    /// A peer that is not installed.
    pub(crate) fn absent(&mut self, name: &str) {
        self.absent.push(name.to_owned());
    }

    pub(crate) fn growth(&mut self, curves: &[Curve]) {
        let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
        let _ = writeln!(self.growth, "| elements | {} |\n|---:|{}", names.join(" | "), "---:|".repeat(names.len()));
        for (power, _) in &curves[0].points {
            let cell = |curve: &Curve| {
                let found = curve.points.iter().find(|(at, _)| at == power);
                found.map_or(String::new(), |(_, nanoseconds)| digits(*nanoseconds))
            };
            let cells: Vec<String> = curves.iter().map(cell).collect();
            let _ = writeln!(self.growth, "| 2^{power} | {} |", cells.join(" | "));
        }
        self.plot = plot(curves);
    }

    /// The marks and tables of a part.
    pub(crate) fn figures(&self) -> String {
        format!("{}\n\n| work | mark | figure | |\n|---|---:|---:|---|\n{}{}", machine(), self.marks, self.tables)
    }

    /// All of it.
    pub(crate) fn text(&self) -> String {
        let absent = match self.absent.join(", ") {
            none if none.is_empty() => none,
            names => format!(" Not installed there: {names}."),
        };
        let Report { marks, tables, growth, .. } = self;
        format!(
            "{}{absent}\n\n| work | mark | figure | |\n|---|---:|---:|---|\n{marks}\n\
             ## Growth\n\nNanoseconds an element, f32.\n\n![time against size](performance.svg)\n\n{growth}\n\
             ## All contenders\n{tables}",
            machine()
        )
    }

    /// Into the documents.
    pub(crate) fn write(&self) {
        let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"));
        let path = docs.join("performance.md");
        let text = std::fs::read_to_string(&path).expect("docs/performance.md");
        let (before, rest) = text.split_once(BEGIN).expect("the comment before");
        let (_, after) = rest.split_once(END).expect("the comment behind");
        std::fs::write(path, format!("{before}{BEGIN}\n{}\n{END}{after}", self.text())).expect("docs/performance.md");
        std::fs::write(docs.join("performance.svg"), &self.plot).expect("docs/performance.svg");
    }
}

/// Three significant digits or so.
fn digits(nanoseconds: f64) -> String {
    let places = if nanoseconds >= 10.0 { 1 } else { 3 };
    format!("{nanoseconds:.places$}")
}

/// The day, the processor, and how busy it was.
fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processors = read("/proc/cpuinfo");
    let model = processors.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let load = read("/proc/loadavg");
    let day = Command::new("date").args(["-u", "+%F"]).output().map_or(Vec::new(), |output| output.stdout);
    format!(
        "{}, {} with {cores} cores, load average {} at the end; kernels of level {:?}.",
        String::from_utf8_lossy(&day).trim(),
        model.unwrap_or("an unnamed processor"),
        load.split(' ').next().unwrap_or("unknown"),
        roundonce_arith::batch::Level::best()
    )
}

/// The curves on doubly logarithmic axes.
fn plot(curves: &[Curve]) -> String {
    const COLOURS: [&str; 5] = ["#555555", "#0b7a75", "#c8553d", "#a0a0a0", "#6fb8b4"];
    let (width, height, left, top) = (560.0, 300.0, 60.0, 20.0);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let powers = points().fold((u32::MAX, 0), |(low, high), (power, _)| (low.min(*power), high.max(*power)));
    let times = points().fold((f64::MAX, 0.0_f64), |(low, high), (_, time)| (low.min(*time), high.max(*time)));
    let (low, high) = (times.0.log2().floor(), times.1.log2().ceil());
    let x = |power: u32| left + width * f64::from(power - powers.0) / f64::from((powers.1 - powers.0).max(1));
    let y = |log: f64| top + height * (high - log) / (high - low).max(1.0);
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 370\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"860\" height=\"370\" fill=\"white\"/>\n<g stroke=\"#dddddd\">\n",
    );
    let mut labels = String::new();
    for power in (powers.0..=powers.1).step_by(2) {
        let (x, bottom) = (x(power), top + height);
        let _ = writeln!(svg, "<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>");
        let _ = writeln!(labels, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">2^{power}</text>", bottom + 18.0);
    }
    for log in low as i32..=high as i32 {
        let (y, right) = (y(log.into()), left + width);
        let _ = writeln!(svg, "<line x1=\"{left}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>");
        let time = 2f64.powi(log);
        let _ =
            writeln!(labels, "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{time:.3}</text>", left - 6.0, y + 4.0);
    }
    let _ = writeln!(svg, "</g>\n{labels}<text x=\"340\" y=\"362\" text-anchor=\"middle\">elements</text>");
    let _ = writeln!(svg, "<text x=\"8\" y=\"14\">ns an element</text>");
    for (number, (curve, colour)) in curves.iter().zip(COLOURS.into_iter().cycle()).enumerate() {
        let place = |(power, time): &(u32, f64)| format!("{:.1},{:.1}", x(*power), y(time.log2()));
        let path: Vec<String> = curve.points.iter().map(place).collect();
        let path = path.join(" ");
        let _ = writeln!(svg, "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        let at = top + 20.0 * (number + 1) as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"650\" y1=\"{at}\" x2=\"680\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let _ = writeln!(svg, "<text x=\"686\" y=\"{}\">{}</text>", at + 4.0, curve.name);
    }
    svg + "</svg>\n"
}
