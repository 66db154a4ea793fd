/** Builds and drives `volatile-disk.c`: a block device whose power can be cut. Needs root, a C compiler and FUSE. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../../support/daemon.ts';
import { insist, type Undo, undoLater } from '../undo.ts';

const run = promisify(execFile);

export type Cut = {
  /** Where the image of the disk after the cut is written. */
  path: string;
  /** Probability (0 to 1) that a piece of an unflushed write survives. */
  survival: number;
  /** Size of such a piece: 512 (torn sectors) or 4096. */
  grainBytes: number;
  seed: number;
  /** The moment: 0 now, otherwise right after this many more writes, so that something is not yet flushed. */
  delayWrites: number;
};

export type CutResult = {
  /** Writes not yet flushed at the moment of the cut, and their pieces that survived or were lost. */
  pendingWrites: number;
  keptPieces: number;
  lostPieces: number;
  flushes: number;
};

export type VolatileDisk = Disposable & {
  /** The file system on the disk. */
  mountPoint: string;
  /** Resolves when the image is complete; the moment of the cut is after the call. One at a time. */
  cut(cut: Cut): Promise<CutResult>;
  setFlushLatency(latencyUs: number): Promise<void>;
  failWrites(when: 'never' | 'next' | 'always'): Promise<void>;
  failFlushes(when: 'never' | 'next' | 'always'): Promise<void>;
  /** Ends and unmounts everything. Whoever works on the file system must have ended. */
  remove(): void;
};

const SOURCE = fileURLToPath(new URL('volatile-disk.c', import.meta.url));
const ANSWER_TIMEOUT_MS = 90_000;

/** Path of the program, which is compiled at its first use. */
let program: Promise<string> | undefined;

async function compile(): Promise<string> {
  const program = join(temporaryDirectory('volatile-disk'), 'volatile-disk');
  await run('cc', ['-std=gnu17', '-O2', '-Wall', '-Wextra', '-o', program, SOURCE]);
  return program;
}

/**
 * Creates a disk whose files are in `directory`, which must not exist yet. The disk holds an empty ext4 of `sizeBytes`,
 * or a copy of another disk.
 */
export async function createVolatileDisk(
  directory: string,
  content: { sizeBytes: number } | { image: string },
): Promise<VolatileDisk> {
  const [image, fuse, mountPoint] = ['image', 'fuse', 'mounted'].map((name) => join(directory, name));
  if (!image || !fuse || !mountPoint) throw new Error('unreachable');
  for (const path of [fuse, mountPoint]) mkdirSync(path, { recursive: true });
  if ('image' in content) await run('cp', ['--sparse=always', content.image, image]);
  else await makeExt4(image, content.sizeBytes);
  program ??= compile();
  const server = await startServer(await program, fuse, image);
  const detach = await attachLoop(join(fuse, 'disk'));
  const unmount = await mount([detach.device, mountPoint]);
  const remove = () => {
    unmount();
    detach.run();
    server.end();
  };
  return {
    mountPoint,
    async cut({ path, survival, grainBytes, seed, delayWrites }) {
      const line = `cut ${path} ${survival.toFixed(4)} ${grainBytes} ${seed} ${delayWrites}`;
      return parseCut(await server.ask(line, `cut ${path} `));
    },
    setFlushLatency: (latencyUs) => server.tell(`latency ${Math.round(latencyUs)}`),
    failWrites: (when) => server.tell(`fail-write ${when}`),
    failFlushes: (when) => server.tell(`fail-flush ${when}`),
    remove,
    [Symbol.dispose]: remove,
  };
}

/** Mounts an image through a loop device of its own. Returns the function that unmounts it. */
export function mountImage(image: string, mountPoint: string, options = 'loop'): Promise<Undo> {
  mkdirSync(mountPoint, { recursive: true });
  return mount(['-o', options, image, mountPoint]);
}

/** Makes an image with an empty ext4 on it, which must not exist yet. */
export async function makeExt4(image: string, sizeBytes: number): Promise<void> {
  const file = openSync(image, 'wx', 0o600);
  ftruncateSync(file, sizeBytes);
  closeSync(file);
  // Without lazy initialisation the kernel writes nothing behind the test's back.
  await run('mkfs.ext4', ['-q', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image]);
}

async function mount(args: [...string[], string]): Promise<Undo> {
  const mountPoint = args.at(-1) ?? '';
  await run('mount', args);
  return undoLater(`mount ${mountPoint}`, () => insist(() => execFileSync('umount', [mountPoint])));
}

async function attachLoop(file: string): Promise<{ device: string; run: () => void }> {
  const { stdout } = await run('losetup', ['--find', '--show', file]);
  const device = stdout.trim();
  return {
    device,
    run: undoLater(`loop device ${device}`, () =>
      insist(() => execFileSync('losetup', ['--detach', device])),
    ),
  };
}

type Server = {
  /** Sends a line and resolves with the answer that begins with `prefix`. */
  ask(line: string, prefix: string): Promise<string>;
  tell(line: string): Promise<void>;
  end(): void;
};

async function startServer(program: string, mountPoint: string, image: string): Promise<Server> {
  // A process group of its own: Ctrl-C must not take the disk away before its file system is unmounted.
  const child = spawn(program, [mountPoint, image], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<string, (line: string) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    for (const [prefix, resolve] of waiting) {
      if (!line.startsWith(prefix)) continue;
      waiting.delete(prefix);
      resolve(line);
      return;
    }
  });
  const end = undoLater(`volatile disk at ${mountPoint}`, () => endServer(child, mountPoint));
  const answer = (prefix: string) => answerWith(child, waiting, prefix);
  await answer('ready');
  const ask = (line: string, prefix: string) => {
    const answered = answer(prefix);
    child.stdin.write(`${line}\n`);
    return answered;
  };
  return {
    ask,
    async tell(line) {
      await ask(line, `done ${line}`);
    },
    end,
  };
}

function endServer(child: ChildProcess, mountPoint: string): void {
  try {
    // Unmounting ends the program; a lazy unmount works even with a file on it still open.
    execFileSync('umount', ['--lazy', mountPoint]);
  } finally {
    child.kill('SIGKILL');
  }
}

function answerWith(
  child: ChildProcess,
  waiting: Map<string, (line: string) => void>,
  prefix: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      waiting.delete(prefix);
      reject(new Error(`volatile disk: ${why} while waiting for "${prefix}"`));
    };
    const ended = () => fail('ended');
    const timer = setTimeout(() => fail('no answer'), ANSWER_TIMEOUT_MS);
    child.once('exit', ended);
    waiting.set(prefix, (line) => {
      clearTimeout(timer);
      child.off('exit', ended);
      resolve(line);
    });
  });
}

function parseCut(line: string): CutResult {
  const figure = (name: string) => {
    const found = new RegExp(` ${name}=(\\d+)`).exec(line)?.[1];
    if (found === undefined) throw new Error(`volatile disk: no ${name} in "${line}"`);
    return Number(found);
  };
  return {
    pendingWrites: figure('pending'),
    keptPieces: figure('kept'),
    lostPieces: figure('lost'),
    flushes: figure('flushes'),
  };
}
