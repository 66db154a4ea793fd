/** Takes the place of `node:test` in other runtimes: it runs one test after the other, and prints what main.mjs prints. */
const TEST_MS = 2 * 60_000;
const tests = [];
const ends = [];
const RealDate = Date;

export function test(name, ...rest) {
  const [options, work] = typeof rest[0] === 'function' ? [{}, rest[0]] : rest;
  if (!options.skip) tests.push({ name, work });
}

export function after(work) {
  ends.push(work);
}

export const mock = {
  timers: {
    enable({ now }) {
      globalThis.Date = class extends RealDate {
        constructor(...parts) {
          super(...(parts.length === 0 ? [now] : parts));
        }
        static now() {
          return now;
        }
      };
    },
    reset() {
      globalThis.Date = RealDate;
    },
  },
};

export async function runTests() {
  const counts = { tests: tests.length, pass: 0, fail: 0 };
  for (const { name, work } of tests) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`It took more than ${TEST_MS} ms.`)), TEST_MS);
    });
    try {
      await Promise.race([Promise.resolve().then(work), late]);
      counts.pass += 1;
    } catch (error) {
      counts.fail += 1;
      console.log(
        `${name}: ${String(error?.message ?? error)
          .replaceAll(/\s*\n\s*/g, ' | ')
          .slice(0, 600)}`,
      );
    }
    clearTimeout(timer);
  }
  for (const end of ends) await end();
  console.log(JSON.stringify(counts));
  process.exit(counts.fail === 0 && counts.tests > 0 ? 0 : 1);
}
