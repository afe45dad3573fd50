//! Target environments, by the names that spirv-val gives them.

use std::fmt;
use std::str::FromStr;

use roundonce_isa::Version;

/// Whose rules hold beside SPIR-V's own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Client {
    Universal,
    Vulkan(Version),
    OpenCl { version: Version, embedded: bool },
    OpenGl,
}

/// A target environment: a client API, and the newest SPIR-V version it takes.
///
/// ```
/// use roundonce_spirv::Environment;
/// let environment: Environment = "vulkan1.3".parse().unwrap();
/// assert_eq!(environment.to_string(), "vulkan1.3");
/// assert!("vulkan9.9".parse::<Environment>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Environment {
    name: &'static str,
    version: Version,
    pub(crate) client: Client,
}

const fn universal(name: &'static str, minor: u16) -> Environment {
    Environment { name, version: Version(1, minor), client: Client::Universal }
}
const fn vulkan(name: &'static str, minor: u16, spirv: u16) -> Environment {
    Environment { name, version: Version(1, spirv), client: Client::Vulkan(Version(1, minor)) }
}
const fn opencl(name: &'static str, version: Version, embedded: bool, spirv: u16) -> Environment {
    Environment { name, version: Version(1, spirv), client: Client::OpenCl { version, embedded } }
}
const fn opengl(name: &'static str) -> Environment {
    Environment { name, version: Version(1, 0), client: Client::OpenGl }
}

#[rustfmt::skip] // A row an environment: the last number is SPIR-V's minor version.
static ENVIRONMENTS: &[Environment] = &[
    universal("spv1.0", 0), universal("spv1.1", 1), universal("spv1.2", 2), universal("spv1.3", 3),
    universal("spv1.4", 4), universal("spv1.5", 5), universal("spv1.6", 6),
    vulkan("vulkan1.0", 0, 0),
    vulkan("vulkan1.1", 1, 3),
    vulkan("vulkan1.1spv1.4", 1, 4),
    vulkan("vulkan1.2", 2, 5),
    vulkan("vulkan1.3", 3, 6),
    vulkan("vulkan1.4", 4, 6),
    opencl("opencl1.2",         Version(1, 2), false, 0),
    opencl("opencl1.2embedded", Version(1, 2), true,  0),
    opencl("opencl2.0",         Version(2, 0), false, 0),
    opencl("opencl2.0embedded", Version(2, 0), true,  0),
    opencl("opencl2.1",         Version(2, 1), false, 0),
    opencl("opencl2.1embedded", Version(2, 1), true,  0),
    opencl("opencl2.2",         Version(2, 2), false, 2),
    opencl("opencl2.2embedded", Version(2, 2), true,  2),
    opengl("opengl4.0"), opengl("opengl4.1"), opengl("opengl4.2"), opengl("opengl4.3"), opengl("opengl4.5"),
];

impl Environment {
    /// SPIR-V 1.6 and no client's rules: what is assumed where nothing is said.
    pub const UNIVERSAL: Environment = universal("spv1.6", 6);

    /// What a kernel is for where nothing is said.
    pub const OPENCL: Environment = opencl("opencl2.2", Version(2, 2), false, 2);

    /// Every environment.
    pub fn all() -> impl Iterator<Item = Environment> {
        ENVIRONMENTS.iter().copied()
    }
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// The newest SPIR-V version it takes.
    pub fn version(&self) -> Version {
        self.version
    }
    /// Whether kernels with all that OpenCL's full profile has may be for it: that profile's environments, and those of no client.
    pub const fn has_kernels(&self) -> bool {
        matches!(self.client, Client::Universal | Client::OpenCl { embedded: false, .. })
    }
    /// The version of OpenCL, of its full profile, where it is one of OpenCL's.
    pub const fn full_opencl(&self) -> Option<Version> {
        match self.client {
            Client::OpenCl { version, embedded: false } => Some(version),
            _ => None,
        }
    }
}

impl FromStr for Environment {
    type Err = String;
    fn from_str(name: &str) -> Result<Environment, String> {
        Environment::all().find(|environment| environment.name == name).ok_or_else(|| {
            let names: Vec<&str> = ENVIRONMENTS.iter().map(|environment| environment.name).collect();
            format!("`{name}` is no target environment: expected one of {}", names.join(", "))
        })
    }
}

impl fmt::Display for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
