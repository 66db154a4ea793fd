/** Tests that know nothing of the message: `true`, `false`, `not`, `allof` and `anyof` (RFC 5228 section 5). */
import type { TestDefinition } from '../../compile/definition.ts';
import type { Predicate } from '../../run/run.ts';

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
      return onlyOf(tests) ?? ((run) => tests.every((test) => test(run)));
    },
  },
  {
    name: 'anyof',
    tests: 'list',
    compile(call) {
      const tests = call.testList();
      return onlyOf(tests) ?? ((run) => tests.some((test) => test(run)));
    },
  },
];

/** Returns the test of a list of one: programs that write scripts also join a single test. */
function onlyOf(tests: readonly Predicate[]): Predicate | undefined {
  return tests.length === 1 ? tests[0] : undefined;
}
