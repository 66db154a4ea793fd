/** The parts of a connection, before its login and after it. */
import type { AccessConnection, AccessContext } from '../access/connection.ts';
import type { UserContext } from '../access/serve-user.ts';
import type { AccessWire } from '../access/wire.ts';
import type { OpenMaildrop } from './open-maildrop.ts';
import type { Pop3Limits, Pop3ServerOptions } from './options.ts';
import type { RetrievalsAhead } from './retrievals-ahead.ts';
import type { Session } from './session.ts';

/** State and settings that all connections of a listener share. */
export type ListenerContext = AccessContext<Pop3ServerOptions, Pop3Limits>;

/** Settings of all connections of users who have logged in. */
export type Pop3Context = Omit<UserContext, 'owner'> & { limits: Pop3Limits };

/** A connection before its login, in the state AUTHORIZATION (RFC 1939 section 3). */
export type EarlyConnection = AccessConnection & {
  readonly context: ListenerContext;
  readonly session: Session;
  /** Name that USER has given. */
  user: string | undefined;
  /** The client reads UTF-8 in headers (RFC 6856 section 2.1). */
  isUtf8: boolean;
};

/** A connection of a user who has logged in, in the state TRANSACTION. */
export type UserConnection = Head & {
  readonly session?: undefined;
  readonly context: Pop3Context;
  wire: AccessWire;
  isOpen: boolean;
  drop: OpenMaildrop;
  readonly ahead: RetrievalsAhead;
};

/** Facts of a connection that its listener hands over. */
export type Head = { isUtf8: boolean; capabilities: readonly string[] };

export type Connection = EarlyConnection | UserConnection;
