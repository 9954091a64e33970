import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';
import { thisMachine } from './program';
import { serverCommand, serverOptions, type Settings } from './settings';

const SECTION = 'kubectl-crdx';

let client: LanguageClient | undefined;

function settings(): Settings {
  return vscode.workspace.getConfiguration().get<Settings>(SECTION) ?? {};
}

async function start(): Promise<void> {
  try {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(folder => folder.uri.fsPath);
    const own = new LanguageClient(SECTION, 'kubectl crdx', serverCommand(settings(), thisMachine(folders)), {
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

async function restart(): Promise<void> {
  const old = client;
  client = undefined;
  // A server that did not start cannot be stopped.
  await old?.stop().catch(() => undefined);
  await start();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand(`${SECTION}.restart`, restart),
    vscode.workspace.onDidChangeConfiguration(async change => {
      if (change.affectsConfiguration(`${SECTION}.path`)) {
        await restart();
      } else if (change.affectsConfiguration(SECTION) && client?.isRunning()) {
        await client.sendNotification('workspace/didChangeConfiguration', { settings: serverOptions(settings()) });
      }
    }),
  );
  await start();
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
