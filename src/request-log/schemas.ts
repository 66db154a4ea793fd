/** Schemas of a request as an answer shows it, and of the filters of the list. */
import { type Static, Type } from 'typebox';
import type { RequestLogRow } from '../db/api-tables.ts';
import { isoTime } from '../system/clock.ts';
import { timeOfId } from '../system/ids.ts';
import { MAX_KEPT_REQUESTS, type RequestFilter } from './store.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;
const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
/** Maximum length of the beginning of a path in a filter; kept paths are no longer. */
const MAX_PATH_CHARACTERS = 512;

export const requestFilter = {
  status: Type.Optional(Type.Enum([...CLASSES], { description: 'Class of the status.' })),
  method: Type.Optional(Type.Enum([...METHODS], { description: 'Method of the request.' })),
  keyId: Type.Optional(Type.String({ description: 'Id of the API key of the request.' })),
  path: Type.Optional(
    Type.String({
      maxLength: MAX_PATH_CHARACTERS,
      description: 'Beginning of the path, such as `/v1/emails`.',
    }),
  ),
};
type FilterQuery = { status?: string; method?: string; keyId?: string; path?: string };

const bytes = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

export const requestSchema = Type.Object(
  {
    id: Type.String({ description: 'Id of the request, as in the header X-Request-Id; starts with `req_`.' }),
    createdAt: Type.String({ description: 'Time at which the request arrived. ISO 8601, UTC.' }),
    method: Type.String({ description: 'Method of the request.' }),
    route: Type.Union([Type.String(), Type.Null()], {
      description: 'Path of the operation, such as `/v1/emails/{id}`. Null when no operation has the path.',
    }),
    path: Type.String({ description: 'Path of the request without its query.' }),
    status: Type.Integer({ description: 'Status of the answer.' }),
    errorType: Type.Union([Type.String(), Type.Null()], {
      description: 'Code of the error. Null when there was none.',
    }),
    keyId: Type.String({ description: 'Id of the API key.' }),
    durationMs: Type.Integer({ description: 'Time until the answer was sent, in milliseconds.' }),
    requestBytes: bytes('Size of the body, as its header says. Null when it does not.'),
    responseBytes: bytes('Size of the answer. Null when it was not known before it was sent.'),
    clientAddress: Type.String({ description: 'IP address of the client.' }),
  },
  {
    title: 'LoggedRequest',
    examples: [
      {
        id: 'req_01khq3z5vgxw1r8t6n2m4c9b7d',
        createdAt: '2026-03-01T09:00:00.000Z',
        method: 'POST',
        route: '/v1/emails',
        path: '/v1/emails',
        status: 400,
        errorType: 'validation_error',
        keyId: 'key_01khq3z5vgxw1r8t6n2m4c9b7d',
        durationMs: 3,
        requestBytes: 214,
        responseBytes: 181,
        clientAddress: '203.0.113.7',
      },
    ],
  },
);

/** The description of the list. */
export const ABOUT_LOG =
  `Returns the requests that keys of this mode have made, the newest first, without bodies and queries. The last ${MAX_KEPT_REQUESTS.toLocaleString('en')} are kept. ` +
  'Reads of this list are not part of it.';

/** Returns the filter that a query asks for. */
export function readRequestFilter({ status, method, keyId, path }: FilterQuery): RequestFilter {
  return {
    ...(status !== undefined && { statusClass: Number(status.slice(0, 1)) }),
    ...(method !== undefined && { method }),
    ...(keyId !== undefined && { keyId }),
    ...(path !== undefined && { path }),
  };
}

/** Returns a request as answers show it. */
export function showRequest(row: RequestLogRow): Static<typeof requestSchema> {
  const { id, method, route, path, status, errorType, keyId } = row;
  const { durationMs, requestBytes, responseBytes, address: clientAddress } = row;
  return {
    id,
    createdAt: isoTime(timeOfId(id)),
    method,
    route: route?.replace(/:(\w+)/g, '{$1}') ?? null,
    path,
    status,
    errorType,
    keyId,
    durationMs,
    requestBytes,
    responseBytes,
    clientAddress,
  };
}
