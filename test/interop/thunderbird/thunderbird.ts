/**
 * Runs Thunderbird without a display, with a profile of its own. `commands.js` runs inside it and does what a person does with
 * the mouse, or what the code behind a menu does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../support/loopback.ts';
import { until } from '../until.ts';
import { connectMarionette } from './marionette.ts';

export type Thunderbird = {
  /** Runs a function of `commands.js` and resolves with what it returns. */
  run<T>(name: string, ...args: unknown[]): Promise<T>;
  /** Returns what Thunderbird has logged of its IMAP connections. */
  imapLog(): Promise<string>;
  /** Ends Thunderbird, which can be started again with the same directory. */
  stop(): Promise<void>;
};

/** Time that Thunderbird has to write its files at the end. */
const STOP_TIMEOUT_MS = 30_000;
const COMMANDS = new URL('commands.js', import.meta.url);

/**
 * @param home a directory for the profile, which is new unless Thunderbird was started with it before
 * @param more preferences that a test needs
 */
export async function startThunderbird(
  home: string,
  more: Record<string, unknown> = {},
): Promise<Thunderbird> {
  const [profile, log, port] = [join(home, 'profile'), join(home, 'imap.log'), await freePort()];
  await mkdir(profile, { recursive: true });
  await writeFile(join(profile, 'user.js'), preferences({ 'marionette.port': port, ...more }));
  const program = spawn(
    'thunderbird',
    ['--headless', '--no-remote', '--profile', profile, '--marionette', '-remote-allow-system-access'],
    {
      env: { ...process.env, HOME: home, MOZ_LOG: 'IMAP:4,sync', MOZ_LOG_FILE: log },
      stdio: 'ignore',
    },
  );
  const exited = once(program, 'exit');
  const marionette = await connectMarionette(port).catch((error: unknown) => {
    program.kill('SIGKILL');
    throw error;
  });
  const commands = await readFile(COMMANDS, 'utf8');
  await execute(commands, []);

  async function execute(script: string, args: readonly unknown[]): Promise<unknown> {
    const parameters = { script, args, sandbox: 'system', newSandbox: false };
    const result = await marionette.command('WebDriver:ExecuteScript', parameters);
    return (result as { value: unknown }).value;
  }

  /** Nothing runs while a dialog is open, which `commands.js` closes. */
  function executeWithoutDialog(script: string, args: readonly unknown[]): Promise<unknown> {
    return until('no dialog is open', async () => {
      try {
        return { value: await execute(script, args) };
      } catch (error) {
        if (error instanceof Error && error.message.includes('unexpected alert open')) return undefined;
        throw error;
      }
    }).then(({ value }) => value);
  }

  return {
    run: async <T>(name: string, ...args: unknown[]) =>
      (await executeWithoutDialog('return commands[arguments[0]](...arguments[1])', [name, args])) as T,
    imapLog: () => readFile(`${log}.moz_log`, 'utf8'),
    async stop() {
      const kill = setTimeout(() => program.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await marionette
        .command('Marionette:Quit', { flags: ['eForceQuit'] })
        .catch(() => program.kill('SIGKILL'));
      await exited;
      clearTimeout(kill);
      marionette.close();
    },
  };
}

function preferences(own: Record<string, unknown>): string {
  const values = {
    // Requests to web servers fail, since nothing listens on this port. Mail does not use this proxy.
    'network.proxy.type': 1,
    ...Object.fromEntries(
      ['http', 'ssl'].flatMap((kind) => [
        [`network.proxy.${kind}`, '127.0.0.1'],
        [`network.proxy.${kind}_port`, 9],
      ]),
    ),
    // No page or dialog of a first start is shown.
    'app.update.enabled': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'mail.provider.suppress_dialog_on_startup': true,
    'mail.rights.version': 1,
    'mailnews.start_page.enabled': false,
    ...own,
  };
  return Object.entries(values)
    .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
    .join('');
}
