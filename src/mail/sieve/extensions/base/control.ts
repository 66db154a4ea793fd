/** Commands that control the run: `require` and `stop` (RFC 5228 section 3). `compile/compiler.ts` knows `if`. */
import type { CommandDefinition } from '../../compile/definition.ts';

/** Capabilities of comparators that every script has (RFC 5228 section 2.7.3). */
const BASE_COMPARATORS: ReadonlySet<string> = new Set(['comparator-i;octet', 'comparator-i;ascii-casemap']);

export const REQUIRE: CommandDefinition = {
  name: 'require',
  parameters: [{ name: 'capabilities', type: 'constants' }],
  compile(call) {
    if (!call.notes.mayRequire) throw call.fault('`require` must stand before all other commands');
    const unknown = call
      .constants('capabilities')
      .filter((capability) => !BASE_COMPARATORS.has(capability) && !call.enable(capability));
    if (unknown.length > 0)
      throw call.fault(
        `the server does not have ${unknown.map((name) => `\`${name}\``).join(', ')}`,
        'capabilities',
      );
    return () => undefined;
  },
};

export const STOP: CommandDefinition = { name: 'stop', compile: () => () => 'stop' };
