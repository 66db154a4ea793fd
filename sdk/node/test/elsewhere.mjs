/**
 * Runs the tests of this library in another runtime than Node.js, with a runner of its own, and prints what main.mjs prints:
 *
 *     node test/elsewhere.mjs bun run
 *     node test/elsewhere.mjs deno run --allow-all
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfNeeded } from '../build.mjs';
import { bundleTests, folder } from './bundle.mjs';

/** It looks at the files of the package, with programs that need Node.js. */
const NODE_ALONE = 'package.test.ts';

const [runtime, ...args] = process.argv.slice(2);
const sources = readdirSync(join(folder, 'test')).filter(
  (file) => file.endsWith('.test.ts') && file !== NODE_ALONE,
);
const runner = join(folder, 'test/runner.mjs');
// Deno takes what stands below node_modules for a package.
const out = mkdtempSync(join(tmpdir(), 'postrider-tests-'));
const outfile = join(out, 'all.mjs');
await buildIfNeeded();
await bundleTests({
  runner,
  outfile,
  stdin: {
    contents: [
      ...sources.map((file) => `import './test/${file}';`),
      `import { runTests } from './test/runner.mjs';`,
      'await runTests();',
    ].join('\n'),
    resolveDir: folder,
  },
  // The package says that its modules have no effect, which tests have.
  ignoreAnnotations: true,
});
const { status } = spawnSync(runtime, [...args, outfile], { cwd: folder, stdio: 'inherit' });
rmSync(out, { recursive: true });
process.exitCode = status ?? 1;
