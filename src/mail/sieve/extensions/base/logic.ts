/** Tests that know nothing of the message: `true`, `false`, `not`, `allof` and `anyof` (RFC 5228 section 5). */
import type { TestDefinition } from '../../compile/definition.ts';

export const LOGIC: readonly TestDefinition[] = [
  { name: 'true', compile: () => () => true },
  { name: 'false', compile: () => () => false },
  {
    name: 'not',
    tests: 'one',
    compile(call) {
      const test = call.test();
      return (run) => !test(run);
    },
  },
  {
    name: 'allof',
    tests: 'list',
    compile(call) {
      const tests = call.testList();
      return (run) => tests.every((test) => test(run));
    },
  },
  {
    name: 'anyof',
    tests: 'list',
    compile(call) {
      const tests = call.testList();
      return (run) => tests.some((test) => test(run));
    },
  },
];
