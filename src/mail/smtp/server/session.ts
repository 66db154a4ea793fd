/**
 * The interface between the SMTP server and the product. The server owns the wire and the order of commands; a session
 * decides who may send what to whom, and keeps the messages. The server calls one method of a session at a time.
 */
import type { Client } from '../../connection/client.ts';
import type { PasswordCredentials } from '../../sasl/exchange.ts';
import type { ScramAnswer, ScramKey, ScramProof } from '../../sasl/scram.ts';

/** Client of a connection. A new value replaces it at EHLO, at STARTTLS and for each transaction. */
export type SmtpClient = Client & {
  /** Name given in HELO, EHLO or LHLO: at most 255 letters, digits and `.-_:[]`. It is not verified. */
  helo: string | undefined;
  protocol: SmtpProtocol;
};

/** Keyword for the `with` clause of a Received field (RFC 3848, RFC 6531 section 4.3). `A` stands for a client that has logged in. */
export type SmtpProtocol = 'SMTP' | `${'ESMTP' | 'LMTP' | 'UTF8SMTP' | 'UTF8LMTP'}${'' | 'S' | 'SA'}`;

/** `status` is an enhanced status code (RFC 3463), by default `X.0.0` of the code's class. Each text is one line. */
export type Reply = { code: number; status?: string; text: string | readonly string[] };

/** Time for which a message is held, in seconds, or until which it is held, in Unix milliseconds (RFC 4865). */
export type Hold = { seconds: number } | { until: number };

/** Arguments of MAIL. */
export type Sender = {
  /** Address in the form of `Recipient`; empty for the null sender. */
  address: string;
  /** Size that the client declared (RFC 1870). It is not verified. */
  sizeBytes: number | undefined;
  body: '7BIT' | '8BITMIME';
  /** True when addresses and header fields of the message may be UTF-8 (RFC 6531). */
  utf8: boolean;
  /** True when the message must not be relayed without TLS (RFC 8689). */
  requireTls: boolean;
  /** Parameters about notifications (smtp/dsn-parameters.ts); undefined when the client gave none. */
  dsn?: string;
  /** The hold that the client asks for (RFC 4865), as it has written it. */
  hold?: Hold;
  /** Time until which the client asks to hold the message (RFC 4865), in Unix milliseconds; undefined when it asks for nothing. */
  releaseAt?: number;
};

/** Argument of RCPT. */
export type Recipient = {
  /**
   * `localPart@domain`, or `postmaster` in any case without a domain (RFC 5321 section 4.1.1.3). The local part is
   * quoted only where it must be. The domain is in lower case and has A-labels; it may have one label, or be an
   * address literal such as `[192.0.2.1]`. A source route is left out.
   */
  address: string;
  /** Parameters about notifications (smtp/dsn-parameters.ts); undefined when the client gave none. */
  dsn?: string;
};

/** Decisions about logins. A reply refuses. A client that is accepted has logged in only once `loggedIn` is called. */
type Logins = {
  login(credentials: PasswordCredentials, client: SmtpClient): Promise<Reply | undefined>;
  /** Returns the key of a name for SCRAM, whether a user has the name or not. */
  scramKey(username: string): Promise<ScramKey>;
  loginByProof(proof: ScramProof, client: SmtpClient): Promise<ScramAnswer<Reply | undefined>>;
  /**
   * The exchange has ended with success (235): the client that was accepted last is logged in. After SCRAM it may still cancel. Returns the
   * maximum number of recipients of its messages, where it is less than that of the server, and false when DSN is not for it.
   */
  loggedIn(): { maxRecipients?: number | undefined; hasNotifications?: boolean | undefined };
};

/**
 * The answers of one connection. An undefined answer accepts; a reply refuses, and one with the code 421 also ends the
 * connection. A thrown AppError becomes its reply (refusal.ts); any other error is logged and answered with 451.
 */
export type Session = {
  /** Decides before the banner. A refusal becomes the banner, and the connection ends. */
  connect(client: SmtpClient): Promise<Reply | undefined>;
  /** Decides on HELO, EHLO or LHLO; `client.helo` is the name. */
  ehlo(client: SmtpClient): Promise<Reply | undefined>;
  /** Decides about AUTH. A listener that offers it has sessions with these methods. */
  logins?: Logins;
  mail(sender: Sender, client: SmtpClient): Promise<Reply | undefined>;
  rcpt(recipient: Recipient, client: SmtpClient): Promise<Reply | undefined>;
  /**
   * Takes the message. The client is asked for it (354) when the body is first read, so a reply without reading refuses
   * the message before it is sent. A reply that accepts must come after the whole body was read.
   *
   * The body yields the bytes of the message without dot-stuffing. CRLF ends its lines, and a bare LF stays as it came.
   * Reading throws when the client goes away or is too slow, when the message is too large, or when it has a bare CR or
   * a NUL; the session drops what it has, and the server answers by itself. Each buffer belongs to the session.
   *
   * LMTP answers once for each recipient (RFC 2033 section 4.2), in the order of RCPT: a list has one reply for each,
   * and a single reply is repeated.
   */
  data(body: AsyncIterable<Buffer>, client: SmtpClient): Promise<Reply | readonly Reply[]>;
  /** The transaction has ended: after data, or by RSET, HELO, EHLO, LHLO or STARTTLS. */
  reset(): void;
  /** The connection has ended. No other call follows. */
  close(): void;
};

/** The connection of a session, which the session may end at any time. */
export type SessionConnection = {
  /**
   * Ends the connection before its next command, with this as the last reply. A message that is still arriving is cut off; one that has
   * arrived is answered first.
   */
  end(reply: Reply): void;
};

export type OpenSession = (connection: SessionConnection) => Session;
