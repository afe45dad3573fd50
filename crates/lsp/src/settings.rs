//! What a client may choose: `initializationOptions`.

use roundonce::answers::CheckOptions;
use roundonce::spirv::Environment;
use serde::Deserialize;
use serde_json::Value;

/// How texts are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The environment of SPIR-V modules.
    pub environment: Environment,
    /// Whether what is left open is found too.
    pub determinacy: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { environment: Environment::UNIVERSAL, determinacy: true }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    target_env: Option<String>,
    determinacy: Option<bool>,
}

impl Settings {
    /// With what a client chooses; and what of it cannot be read.
    pub(crate) fn with(mut self, options: Option<Value>) -> (Settings, Option<String>) {
        let Some(options) = options.filter(|options| !options.is_null()) else { return (self, None) };
        let chosen = match serde_json::from_value::<Chosen>(options) {
            Ok(chosen) => chosen,
            Err(error) => return (self, Some(format!("initializationOptions: {error}"))),
        };
        self.determinacy = chosen.determinacy.unwrap_or(self.determinacy);
        match chosen.target_env.map(|name| name.parse()).transpose() {
            Ok(environment) => {
                self.environment = environment.unwrap_or(self.environment);
                (self, None)
            }
            Err(problem) => (self, Some(format!("initializationOptions.targetEnv: {problem}"))),
        }
    }

    pub(crate) fn check_options(&self) -> CheckOptions {
        CheckOptions { determinacy: self.determinacy, environment: self.environment }
    }
}
