/**
 * The data dictionary: what developers set and see while they try an application with the API. The conventions are those of tables.ts,
 * which lists every table.
 */
import { clusteredTable, id, integer, key, nullable, type Row, text } from './table.ts';

/** Written by simulator/store.ts: the SMTP reply that the simulator gives to test mail of a tenant. */
export const simulatorReplies = clusteredTable({
  tenantId: key(id('ten')),
  code: integer(),
  /** Enhanced status code, such as `4.2.2` (RFC 3463); null when the reply has none. */
  enhancedCode: nullable(text()),
  text: text(),
  /** `custom`: recipients `custom@simulator.<hostname>`. `all`: all recipients of test mail. */
  recipients: text<'custom' | 'all'>(),
  updatedAt: integer(),
});
export type SimulatorReplyRow = Row<typeof simulatorReplies>;

/** Written by request-log/store.ts: the last requests to the API of each tenant, by the mode of their keys. */
export const requestLog = clusteredTable({
  tenantId: key(id('ten')),
  mode: key(text<'live' | 'test'>()),
  /** Id of the request, which says when it arrived. */
  id: key(id('req')),
  keyId: id('key'),
  method: text(),
  /** Path of the route with its parameters, such as `/v1/emails/:id`; null when no route has the path. */
  route: nullable(text()),
  /** Path of the request, without its query. */
  path: text(),
  status: integer(),
  /** Code of the refusal; null for a success. */
  errorType: nullable(text()),
  durationMs: integer(),
  /** Sizes of both bodies as their Content-Length says; null when it does not. */
  requestBytes: nullable(integer()),
  responseBytes: nullable(integer()),
  /** IP address of the client. */
  address: text(),
});
export type RequestLogRow = Row<typeof requestLog>;
