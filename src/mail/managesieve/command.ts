/** Types that every command uses: the connection that it runs on, how its commands are read, and the command itself. */
import { type AccessConnection, type AccessContext, commandWaitLimit } from '../access/connection.ts';
import { privacyOf } from '../access/privacy.ts';
import { channelBindingOf } from '../sasl/channel-binding.ts';
import { offeredMechanisms } from '../sasl/mechanisms.ts';
import { type FramedCommand, readCommand, type Token } from './framing.ts';
import type { ManageSieveLimits, ManageSieveOptions } from './options.ts';
import { type Completion, writeString } from './respond.ts';
import type { Account, Refusal, Session } from './session.ts';

export type ManageSieveContext = AccessContext<ManageSieveOptions, ManageSieveLimits>;

export type Connection = AccessConnection & {
  readonly context: ManageSieveContext;
  readonly session: Session;
  /** Scripts of the user, who has logged in when it is defined. */
  account: Account | undefined;
};

/** Completes a command: a refusal with NO or BYE, everything else with OK. `next` returns the connection that follows. */
export type Result = Refusal | (Completion & { next?: () => Promise<Connection> }) | undefined;

/** Kinds of arguments. One that ends with a question mark may be missing. */
type Parameter = 'string' | 'number' | 'string?';
type ArgumentOf<Kind extends Parameter> = Kind extends 'number'
  ? number
  : Kind extends 'string?'
    ? string | undefined
    : string;
type Arguments<Kinds extends readonly Parameter[]> = {
  -readonly [Index in keyof Kinds]: ArgumentOf<Kinds[Index]>;
};

export type Command = {
  name: string;
  /** State in which the command is valid. */
  states: 'any' | 'not authenticated' | 'authenticated';
  /** Runs the command with the tokens after its name. Returns undefined for arguments that are not its own. */
  run(connection: Connection, tokens: readonly Token[]): Promise<{ result: Result } | undefined>;
};

type Definition<Kinds extends readonly Parameter[]> = Pick<Command, 'name' | 'states'> & {
  parameters: Kinds;
  run(connection: Connection, args: Arguments<Kinds>): Promise<Result>;
};

/** Returns a command whose arguments are read before it runs. */
export function defineCommand<const Kinds extends readonly Parameter[]>({
  name,
  states,
  parameters,
  run,
}: Definition<Kinds>): Command {
  return {
    name,
    states,
    async run(connection, tokens) {
      const args = readArguments(tokens, parameters);
      return args && { result: await run(connection, args) };
    },
  };
}

function readArguments<Kinds extends readonly Parameter[]>(
  tokens: readonly Token[],
  kinds: Kinds,
): Arguments<Kinds> | undefined {
  if (tokens.length > kinds.length) return undefined;
  const isValid = kinds.every((kind, index) => {
    const token = tokens[index];
    return token ? kind.startsWith(token.kind) : kind.endsWith('?');
  });
  if (!isValid) return undefined;
  return kinds.map((_, index) => {
    const token = tokens[index];
    return token && 'value' in token ? token.value : undefined;
  }) as Arguments<Kinds>;
}

/** Defines a command about scripts, which needs a login. */
export function defineScriptCommand<const Kinds extends readonly Parameter[]>(definition: {
  name: string;
  parameters: Kinds;
  run(account: Account, args: Arguments<Kinds>, connection: Connection): Promise<Result>;
}): Command {
  return defineCommand({
    name: definition.name,
    states: 'authenticated',
    parameters: definition.parameters,
    async run(connection, args) {
      const { account } = connection;
      if (!account) return { refused: 'NO', text: 'The command needs a login' };
      return await definition.run(account, args, connection);
    },
  });
}

/** Sends the capabilities of a connection in its state, each in a line (RFC 5804 section 1.7). */
export function sendCapabilities(connection: Connection): void {
  const { implementation, extensions, maxRedirects } = connection.context.options;
  const { isPrivate, offersTls } = privacyOf(connection);
  const { account } = connection;
  const capabilities: [name: string, value?: string][] = [
    ['IMPLEMENTATION', implementation],
    ['SIEVE', extensions.join(' ')],
    ['SASL', isPrivate ? offeredMechanisms(channelBindingOf(connection.socket)).join(' ') : ''],
    ['NOTIFY', 'mailto'],
    // The only lists are address books, whose names are URNs (RFC 6134 section 2.8).
    ['EXTLISTS', 'urn'],
    ['MAXREDIRECTS', `${maxRedirects}`],
    ['UNAUTHENTICATE'],
    ['VERSION', '1.0'],
    ...(offersTls && !account ? [['STARTTLS'] as [string]] : []),
    ...(account ? [['OWNER', account.owner] as [string, string]] : []),
  ];
  for (const [name, value] of capabilities)
    connection.wire.send(`${writeString(name)}${value === undefined ? '' : ` ${writeString(value)}`}\r\n`);
}

/** Returns the next command, or the next answer of a login. @throws ConnectionFault; ClientGone */
export async function nextCommand(connection: Connection): Promise<FramedCommand> {
  const { wire, account, context } = connection;
  const hasLoggedIn = account !== undefined;
  const { commandBytes, earlyCommandBytes, discardedBytes } = context.limits;
  const source = {
    read: () => wire.read(commandWaitLimit(connection, { hasLoggedIn })),
    unread: (bytes: Buffer) => wire.unread(bytes),
  };
  // A client without a login cannot make the server read what it then drops.
  if (!hasLoggedIn) return await readCommand(source, { commandBytes: earlyCommandBytes, discardedBytes: 0 });
  return await readCommand(source, { commandBytes, discardedBytes });
}
