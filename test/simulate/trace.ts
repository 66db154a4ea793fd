/** Writes what happens in a simulation as lines that a person can read. */
import type { Observation } from './observation.ts';

/** Returns the line of an observation, which begins with its time in seconds. */
export function traceLine(observation: Observation, at: number): string {
  return `${(at / 1000).toFixed(3).padStart(10)}  ${describe(observation)}`;
}

function describe(observation: Observation): string {
  switch (observation.kind) {
    case 'started':
    case 'killed':
    case 'stopping':
    case 'stopped':
      return `run ${observation.run} ${observation.kind}`;
    case 'clock-set':
      return `clock set by ${observation.byMs / 60_000} min`;
    case 'accepted':
      return `accepted ${observation.mail} of ${observation.tenant} to ${observation.addresses.join(' ')}`;
    case 'commit-failed':
      return `commit refused: ${observation.writes.join(' ')}`;
    case 'changed': {
      const { address, from, to, attempts, dueAt, interruptedAttempts } = observation;
      const due =
        dueAt === null || to === 'in_flight' ? '' : `, due ${new Date(dueAt).toISOString().slice(11)}`;
      const interrupted = interruptedAttempts === 0 ? '' : `, interrupted ${interruptedAttempts}`;
      return `${address}: ${from} -> ${to} (attempt ${attempts}${due}${interrupted})`;
    }
    case 'source-missing':
      return `the machine does not have the address ${observation.source}`;
    case 'dialled':
    case 'opened':
    case 'connected':
    case 'closed':
      return `${name(observation)} ${observation.kind}`;
    case 'left':
      return `${name(observation)} left: ${observation.reason}`;
    case 'said':
      return `${name(observation)} ${observation.line} -> ${printable(observation.reply) || '(nothing)'}`;
    case 'mail':
      return `${name(observation)} takes MAIL of ${observation.mail}, TLS ${observation.connection.tls}`;
    case 'taken':
      return `${name(observation)} takes transaction ${observation.id} for ${observation.addresses.join(' ')}`;
    case 'refused':
      return `${name(observation)} refuses ${observation.addresses.join(' ')}: ${observation.reply}`;
    case 'confirmed':
      return `transaction ${observation.id} is confirmed`;
    case 'answered':
      return `DNS: MX of ${observation.name} is ${observation.answer}`;
    case 'logged':
      return `log ${observation.level}: ${observation.message} ${observation.details}`;
  }
}

function name({ connection: { id, host, source } }: Extract<Observation, { connection: unknown }>): string {
  return `[${id} ${host.site} ${host.address}${source === undefined ? '' : ` from ${source}`}]`;
}

function printable(reply: string): string {
  return reply.replaceAll('\r\n', ' | ').replaceAll('\0', '\\0');
}
