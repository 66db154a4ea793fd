/**
 * Runs Sieve scripts with Pigeonhole, the Sieve of Dovecot. Its programs are unpacked into a folder of their own; the one that shows what a
 * script would do needs no daemon, no settings and no network. Needs root.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';

const run = promisify(execFile);

const PACKAGES = ['dovecot-core', 'dovecot-sieve'];
/** nobody on Debian, as which the program runs. */
const NOBODY = 65_534;
const TIMEOUT_MS = 20_000;
const EXTENSIONS = '+editheader +vacation-seconds +special-use +spamtest';

export type PigeonholeRun = { script: string; message: Buffer; from: string; to: string };

export type Pigeonhole = {
  /**
   * Returns the actions of a script, each on a line of its own, or an error when the script does not compile or fails. It is undefined when
   * the program aborts, as it does where a script reads the body of a message whose header it has edited.
   */
  run(input: PigeonholeRun): Promise<string[] | undefined>;
  /** Returns true when a script compiles. */
  compiles(script: string): Promise<boolean>;
};

/** Unpacks the programs. */
export async function unpackPigeonhole(): Promise<Pigeonhole> {
  const home = temporaryDirectory('pigeonhole');
  await chmod(home, 0o755);
  await run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES], { cwd: home });
  await run('sh', ['-c', 'for file in *.deb; do dpkg -x "$file" .; done'], { cwd: home });
  let folders = 0;
  const createFolder = async (script: string) => {
    const folder = join(home, String(folders++));
    await mkdir(folder);
    await writeFile(join(folder, 'script.sieve'), script);
    await chown(folder, NOBODY, NOBODY);
    return folder;
  };
  return {
    async run({ script, message, from, to }) {
      const folder = await createFolder(script);
      await writeFile(join(folder, 'message'), message);
      const envelope = ['-f', from, '-r', to, '-a', to];
      const { signal, isDone, stdout, stderr } = await runProgram(home, folder, [
        'sieve-test',
        ...envelope,
        'script.sieve',
        'message',
      ]);
      if (signal === 'SIGABRT') return undefined;
      return isDone ? readActions(stdout) : [`error: ${stderr}`];
    },
    async compiles(script) {
      const folder = await createFolder(script);
      return (await runProgram(home, folder, ['sievec', 'script.sieve', 'script.svbin'])).isDone;
    },
  };
}

type Result = { isDone: boolean; signal: string | undefined; stdout: string; stderr: string };

async function runProgram(home: string, folder: string, [name, ...rest]: string[]): Promise<Result> {
  const identity = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const settings = [
    ...['-o', `mail_location=maildir:${folder}/mail`, '-o', 'postmaster_address=p@example.com'],
    ...['-o', `plugin/sieve_extensions=${EXTENSIONS}`],
  ];
  const program = [join(home, `usr/bin/${name}`), '-O', ...settings, ...rest];
  const env = { LD_LIBRARY_PATH: join(home, 'usr/lib/dovecot'), USER: 'nobody', HOME: folder };
  try {
    const output = await run('setpriv', [...identity, ...program], { cwd: folder, env, timeout: TIMEOUT_MS });
    return { isDone: true, signal: undefined, ...output };
  } catch (error) {
    const { code, signal, stdout = '', stderr = '' } = error as Partial<Result> & { code?: unknown };
    if (typeof code !== 'number' && signal !== 'SIGABRT') throw error;
    return { isDone: false, signal, stdout, stderr };
  }
}

/** Returns the lines of the two lists that the program prints: the actions, and the implicit keep. */
function readActions(output: string): string[] {
  const [, actions = '', keep = ''] =
    /Performed actions:\n([\s\S]*?)\nImplicit keep:\n([\s\S]*)$/.exec(output) ?? [];
  const lines = (text: string) =>
    text.split(/\n(?= \* )/).map((line) => line.trim().replace(/\s*\n\s+/g, '\n'));
  return [...lines(actions), ...lines(keep).map((line) => `implicit ${line}`)].filter((line) =>
    line.includes('* '),
  );
}
