//! What is published says what it is: the manifests of the crates, and one version everywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn packages(manifest: &str) -> Vec<Value> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join(manifest))
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// A package that `publish` does not forbid.
fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

/// What crates.io asks for or shows, and what a reader of the published crate needs; what is wrong.
fn faults(package: &Value, published: &[&str]) -> Vec<String> {
    let name = package["name"].as_str().unwrap();
    let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
    let mut faults = Vec::new();
    let mut demand = |is_so: bool, what: &str| {
        if !is_so {
            faults.push(format!("{name}: {what}"));
        }
    };
    let count = |key: &str| package[key].as_array().unwrap().len();
    demand(folder.starts_with(root().join("crates")), "only what is under crates/ is published");
    demand(package["description"].is_string(), "no description");
    demand((1..=5).contains(&count("keywords")), "one to five keywords");
    demand((1..=5).contains(&count("categories")), "one to five categories");
    for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        demand(folder.join(file).is_file(), &format!("no {file}"));
    }
    let tool = if name == "roundonce-cli" { "binstall" } else { "docs" };
    demand(package["metadata"][tool].is_object(), &format!("no [package.metadata.{tool}]"));
    let version = format!("^{}", env!("CARGO_PKG_VERSION"));
    for dependency in package["dependencies"].as_array().unwrap() {
        let to = dependency["name"].as_str().unwrap();
        // Dependencies of tests without a version are left out of what is published.
        if dependency["path"].is_string() && dependency["kind"].is_null() {
            demand(published.contains(&to), &format!("depends on {to}, which is not published"));
            demand(dependency["req"] == version.as_str(), &format!("asks for {} of {to}", dependency["req"]));
        }
    }
    faults
}

#[test]
fn the_manifests_are_whole() {
    let packages = packages("Cargo.toml");
    let published: Vec<&Value> = packages.iter().filter(|package| is_published(package)).collect();
    let names: Vec<&str> = published.iter().map(|package| package["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"roundonce") && names.contains(&"roundonce-cli"), "{names:?}");
    let faults: Vec<String> = published.iter().flat_map(|package| faults(package, &names)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn one_version() {
    let version = env!("CARGO_PKG_VERSION");
    let bindings = ["bindings/wasm/Cargo.toml", "bindings/wasm/bindgen/Cargo.toml"];
    for manifest in ["Cargo.toml"].into_iter().chain(bindings) {
        for package in packages(manifest) {
            assert_eq!(package["version"], version, "{manifest}: {}", package["name"]);
        }
    }
    for (file, line) in [
        ("bindings/python/pyproject.toml", format!("version = \"{version}\"\n")),
        ("web/package.json", format!("\"version\": \"{version}\",\n")),
        ("CHANGELOG.md", format!("\n## {version}")),
    ] {
        let text = fs::read_to_string(root().join(file)).unwrap();
        assert!(text.contains(&line), "{file} is not of version {version}");
    }
}
