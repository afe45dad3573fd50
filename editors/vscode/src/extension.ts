// Starts `roundonce lsp` and hands it the texts of its languages.
import { commands, window, workspace, type ExtensionContext } from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

const LANGUAGES = ["ptx", "spirv", "sass"];

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = workspace.getConfiguration("roundonce");
  const command = settings.get<string>("path", "roundonce");
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: {
      targetEnv: settings.get<string>("targetEnv"),
      determinacy: settings.get<boolean>("determinacy"),
    },
  };
  const starting = new LanguageClient("roundonce", "roundonce", server, options);
  try {
    await starting.start();
    client = starting;
  } catch (error) {
    // Colours by the grammars stay.
    const reason = error instanceof Error ? error.message : String(error);
    void window.showErrorMessage(`roundonce: \`${command} lsp\` cannot be started: ${reason}. Set roundonce.path.`);
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

export async function activate(context: ExtensionContext): Promise<void> {
  context.subscriptions.push(
    commands.registerCommand("roundonce.restart", restart),
    // The server takes its settings when it starts.
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("roundonce")) void restart();
    }),
  );
  await start();
}

export function deactivate(): Promise<void> {
  return stop();
}
