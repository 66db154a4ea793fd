/**
 * A resource of the API, as the suites that try all resources see it: how to create, list, filter and change it, how many
 * a tenant may have, and what its requests may contain besides their examples.
 */

/** Prefixes of the ids of all resources. */
export type Prefix =
  | 'dom'
  | 'top'
  | 'tpl'
  | 'tpv'
  | 'aud'
  | 'ct'
  | 'seg'
  | 'sup'
  | 'rt'
  | 'in'
  | 'rep'
  | 'wh'
  | 'em'
  | 'whd'
  | 'brd'
  | 'imp'
  | 'exp'
  | 'mbx'
  | 'apw'
  | 'mim'
  | 'key'
  | 'req'
  | 'apr';

/** Domain that each tenant of these suites has and has verified. */
export const DOMAIN = 'post.example';
/** Domain of all tenants. Their routes are here, because only one of the tenants receives the mail of `DOMAIN`. */
export const SANDBOX = 'sandbox.mx.postrider.example';

export type Made = { id: string };
/** Id of one resource of each kind. */
export type Ids = Readonly<Record<Prefix, string>>;

/** The tenant for which a resource is created, and the ways to create it. */
export type Wanted = {
  /** Ids of the tenant's resources, to which the new one belongs. */
  ids: Ids;
  /** Domain of senders, and the domain of the addresses of routes and mailboxes. */
  domain: string;
  addressDomain: string;
  /** A number that is different for each created resource. */
  count: number;
  nowMs: number;
  /** Creates another resource of the tenant. */
  make(prefix: Prefix): Promise<Made>;
  post(path: string, body: object): Promise<Made>;
  /** Posts a CSV file. */
  postCsv(path: string, file: string): Promise<Made>;
  /** Creates the deliveries of recorded events, and returns the newest one of this endpoint. */
  newestDelivery(endpointId: string): Promise<Made>;
  /** Changes the content of a template, and returns its newest version. */
  newestVersion(templateId: string): Promise<Made>;
  /** Receives a message for these routes. */
  receive(routeIds: readonly string[]): Promise<Made>;
  /** Sends an email from the domain by a key that requires approval, and returns its approval. */
  askForApproval(): Promise<Made>;
  /** Receives a report about this domain. */
  report(domainId: string): Promise<Made>;
  /** Adds a request of this key to the log. */
  requested(keyId: string): Promise<Made>;
  /** Runs the queued imports and exports. */
  runJobs(): Promise<void>;
};

/** The tenant that owns what a filter finds. */
export type Owner = Pick<Wanted, 'ids'> & {
  /** Id of the key that made what belongs to it. */
  testKeyId: string;
};

export type Resource = {
  /** Nouns before its id in a path, or the first noun of the path and the noun, as in `mailboxes/imports`. */
  nouns: readonly string[];
  /** Path of its list and of the request that creates it. Without it, `make` alone creates it. */
  path?: string;
  body?(wanted: Wanted): object;
  /** Creates it in another way than by posting the body to the path. */
  make?(wanted: Wanted): Promise<Made>;
  /** True for history, which cannot be deleted. */
  isKept?: true;
  /** True when it belongs to the live or to the test mode. */
  isModal?: true;
  /** Maximum number for a tenant. */
  limit?: {
    max: number;
    table: string;
    /** Name in the refusal, when it is not that of the table. */
    noun?: string;
    /** Kinds of resources that it belongs to. */
    parents?: readonly Prefix[];
    /** Columns in which rows must differ. */
    unique?(number: number): Record<string, string>;
  };
  /** Another value for each field that can be changed by itself. */
  change?(wanted: Wanted): Record<string, unknown>;
  /** Fields whose change changes others too, which tests of the resource prove. */
  linked?: readonly string[];
  /** Values with which each filter of its list finds something. */
  filters?: Readonly<Record<string, (owner: Owner) => readonly string[]>>;
  /** Text of its own that filters find exactly. */
  named?: {
    /** Body of a resource with this name. */
    body(name: string, wanted: Wanted): object;
    /** Values of each filter that find the resource of this name alone. */
    filters: Readonly<Record<string, (name: string) => readonly string[]>>;
    /** Field that begins with the name, which an `@` may follow. */
    field: string;
  };
  /** Fields of requests that their examples leave out, by operation. Ids are as in examples. */
  richer?: Readonly<Record<string, object>>;
  /** Fields with ids that the examples do not have, by operation. Undefined leaves a field of the example out. */
  withIds?: Readonly<Record<string, readonly object[]>>;
};

/** Returns an id like those of examples, which a suite replaces by an id of the same kind. */
export function exampleId(prefix: Prefix): string {
  return `${prefix}_${'0'.repeat(26)}`;
}
