/** The parts of a connection, before its login and after it. */
import type { PortStream } from '../../system/thread/port-stream.ts';
import type { AccessConnection, AccessContext } from '../access/connection.ts';
import type { UserContext } from '../access/serve-user.ts';
import type { AccessWire } from '../access/wire.ts';
import type { CompressedStream } from './compress.ts';
import type { Framing } from './framing.ts';
import type { ImapLimits, ImapServerOptions } from './options.ts';
import type { Account, ChangeKind, Features, ImapClient, SelectedMailbox, Session } from './session.ts';

/** State and settings that all connections of a listener share. */
export type ListenerContext = AccessContext<ImapServerOptions, ImapLimits>;

/** Settings of all connections of users who have logged in. */
export type ImapContext = Omit<UserContext, 'owner'> & {
  limits: ImapLimits;
  options: Pick<ImapServerOptions, 'id'>;
  /** Is told the fields of ID (RFC 2971) that a user who has logged in sends, and those that it has sent before. */
  noteId?: ((fields: ImapClient['id']) => void) | undefined;
};

/** The states of RFC 9051 section 3. */
type UserState =
  | { name: 'authenticated'; account: Account }
  | { name: 'selected'; account: Account; selected: SelectedMailbox; readOnly: boolean };

type Common = {
  readonly context: ImapContext;
  wire: AccessWire;
  framing: Framing;
  isOpen: boolean;
  features: Features;
  /** Changes that are reported between the commands of the client too, since it has asked for that (RFC 5465). */
  pushes: { kind: ChangeKind; unwatch(): void } | undefined;
};

/** A connection before its login. */
export type EarlyConnection = Common &
  AccessConnection & {
    readonly context: ListenerContext;
    readonly session: Session;
    client: ImapClient;
    state: { name: 'not authenticated' };
  };

/** A connection of a user who has logged in. */
export type UserConnection = Common & {
  readonly session?: undefined;
  /** The octets of the client, in place of a socket. */
  readonly stream: PortStream;
  /** DEFLATE on top of the stream, once the client has asked for it. */
  readonly compression: CompressedStream | undefined;
  state: UserState;
};

export type Connection = EarlyConnection | UserConnection;
