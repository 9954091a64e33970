import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';
import { downloadedProgram, releaseOf } from './download';
import { ProgramMissing, thisMachine } from './program';
import { serverCommand, serverOptions, type Settings } from './settings';

const SECTION = 'kubectl-crdx';

let client: LanguageClient | undefined;

function settings(): Settings {
  return vscode.workspace.getConfiguration().get<Settings>(SECTION) ?? {};
}

/** The command of the server. Without a program on the PATH, one is downloaded if the user agrees, or was before. */
async function command(context: vscode.ExtensionContext): Promise<{ command: string; args: string[] } | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(folder => folder.uri.fsPath);
  try {
    return serverCommand(settings(), thisMachine(folders));
  } catch (error) {
    if (!(error instanceof ProgramMissing) || settings().path?.trim() !== SECTION) throw error;
    const extension = context.extension.packageJSON as { version: string; repository: { url: string } };
    const agreed = `downloads ${extension.version}`;
    if (!context.globalState.get(agreed)) {
      const question = `${error.message}. Or download version ${extension.version} from ${extension.repository.url}, with its checksum verified?`;
      if ((await vscode.window.showInformationMessage(question, 'Download')) !== 'Download') return undefined;
      await context.globalState.update(agreed, true);
    }
    const directory = vscode.Uri.joinPath(context.globalStorageUri, extension.version).fsPath;
    return { command: await downloadedProgram(releaseOf(extension, process), directory), args: ['lsp'] };
  }
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  try {
    const server = await command(context);
    if (!server) return;
    const own = new LanguageClient(SECTION, 'kubectl crdx', server, {
      documentSelector: ['yaml', 'json'].flatMap(language => [
        { language, scheme: 'file' },
        { language, scheme: 'untitled' },
      ]),
      // The settings are sent as `workspace/didChangeConfiguration`, so that an option that was removed gets its default.
      initializationOptions: {},
    });
    client = own;
    await own.start();
    await own.sendNotification('workspace/didChangeConfiguration', { settings: serverOptions(settings()) });
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(
      `kubectl crdx lsp cannot be started: ${error instanceof Error ? error.message : String(error)}`,
      'Open Settings',
    );
    if (choice) await vscode.commands.executeCommand('workbench.action.openSettings', `${SECTION}.path`);
  }
}

async function restart(context: vscode.ExtensionContext): Promise<void> {
  const old = client;
  client = undefined;
  // A server that did not start cannot be stopped.
  await old?.stop().catch(() => undefined);
  await start(context);
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand(`${SECTION}.restart`, () => restart(context)),
    vscode.workspace.onDidChangeConfiguration(async change => {
      if (change.affectsConfiguration(`${SECTION}.path`)) {
        await restart(context);
      } else if (change.affectsConfiguration(SECTION) && client?.isRunning()) {
        await client.sendNotification('workspace/didChangeConfiguration', { settings: serverOptions(settings()) });
      }
    }),
  );
  await start(context);
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
