/** Runs samples as `npm test` runs tests, in a process that knows of no test around it: `run.ts OPTIONS SAMPLE…`. */
import { join } from 'node:path';
import { havePassed, runFiles } from '../../support/run-files.ts';

delete process.env.NODE_TEST_CONTEXT;
const [options = '', ...samples] = process.argv.slice(2);
const files = samples.map((name) => join(import.meta.dirname, `${name}.ts`));
console.log('ok', havePassed(await runFiles(files, JSON.parse(options))));
