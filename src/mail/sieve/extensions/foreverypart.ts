/** The loop `foreverypart` and the command `break` (RFC 5703 section 3). */
import type { CommandDefinition, Extension } from '../compile/definition.ts';
import type { Flow } from '../run/run.ts';
import { descend } from './mime.ts';

/** Maximum number of loops around one another. RFC 5703 section 3 asks for two. Our own limit. */
const MAX_LOOPS = 4;

const FOREVERYPART: CommandDefinition = {
  name: 'foreverypart',
  tags: [{ name: ':name', value: 'constant' }],
  hasBlock: true,
  compile(call) {
    const { loops } = call.notes;
    if (loops.length >= MAX_LOOPS) throw call.fault(`loops are nested more than ${MAX_LOOPS} deep`);
    call.notes.needsBody = true;
    const name = call.has(':name') ? call.constant(':name') : undefined;
    loops.push(name);
    const block = call.block();
    loops.pop();
    return (run) => {
      const outer = run.part;
      let flow: Flow;
      // A loop in a loop goes over the parts inside the current one alone.
      const parts = outer ? outer.parts : [run.message.root];
      for (const part of parts.flatMap((inner) => [...descend(run, inner)])) {
        run.part = part;
        flow = block(run);
        if (flow) break;
      }
      run.part = outer;
      return endsHere(flow, name) ? undefined : flow;
    };
  },
};

function endsHere(flow: Flow, name: string | undefined): boolean {
  if (typeof flow !== 'object') return false;
  return flow.break === undefined || flow.break === name;
}

const BREAK: CommandDefinition = {
  name: 'break',
  tags: [{ name: ':name', value: 'constant' }],
  compile(call) {
    const name = call.has(':name') ? call.constant(':name') : undefined;
    const { loops } = call.notes;
    if (loops.length === 0) throw call.fault('`break` stands outside of a loop');
    if (name !== undefined && !loops.includes(name))
      throw call.fault(`no loop here has the name \`${name}\``, ':name');
    const flow = { break: name };
    return () => flow;
  },
};

export const FOREVERYPART_LOOP: Extension = { name: 'foreverypart', commands: [FOREVERYPART, BREAK] };
