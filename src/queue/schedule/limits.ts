/** The limits that the mail of a site obeys. */

export type SiteLimits = {
  /** Maximum number of open connections. */
  connections: number;
  /** Maximum number of connections that are opened in a minute; null when there is no limit. */
  connectionsPerMinute: number | null;
  /** Maximum number of recipients that are sent to in a minute; null when there is no limit. */
  recipientsPerMinute: number | null;
  /** Maximum number of messages on one connection. */
  messagesPerConnection: number;
  /** Sites of one provider share a limit of open connections; null for a site that is part of no group. */
  group: { name: string; connections: number } | null;
};

/** Maximum number of messages on one connection where nothing else is said. Large providers ask for no more. */
export const MESSAGES_PER_CONNECTION = 100;
