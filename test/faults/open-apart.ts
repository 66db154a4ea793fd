/** Opens the app of a data directory in a process of its own, which a fault may end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type Exit = { code: number | null; signal: string | null };

const TYPESCRIPT = new URL('../../bin/typescript.ts', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('migration-program.ts', import.meta.url));
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url));

/** Resolves when the process has ended. `under` is the command that runs it, such as strace. */
export async function openApart(dataDir: string, under: readonly string[] = []): Promise<Exit> {
  const [command = '', ...args] = [...under, process.execPath, '--import', TYPESCRIPT, PROGRAM];
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: COMPILED,
      POSTRIDER_DATA_DIR: dataDir,
      POSTRIDER_HOSTNAME: 'mail.test',
      POSTRIDER_LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  return { code, signal };
}
