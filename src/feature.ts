/**
 * A feature as the root of the program sees it. Each folder of a feature has one such value in its `feature.ts`, and `features.ts` lists
 * them. A function names what it needs of the app and of the parts of the daemon, and the caller of all of them provides
 * everything that one of them needs, or does not compile.
 *
 * The operations of the database are not part of it, because the threads of the database load nothing else of a feature:
 * they are what `operations.ts` in the same folder imports, which a feature with a `defineWrite` or `defineRead` has. The build finds it.
 */
import type { FastifyInstance } from 'fastify';
import type { ExpiryStep } from './db/expiry.ts';
import type { Operations } from './http/json/collect-operations.ts';
import type { ProblemShape } from './http/json/problem.ts';
import type { HostedApp } from './http/transport/host-names.ts';
import type { Work } from './system/worker.ts';
import type { TaskKind } from './tasks/kind.ts';

type Register = (server: FastifyInstance, app: never) => void;

/**
 * Effect of an operation for a key that is limited to one domain:
 *
 * - `domain`: the operation reaches what belongs to the domain of the key. Other ids are not found, lists leave the rest out, and a request
 *   that names another domain is refused. The stores of the resources see to it with the conditions of domains/reach.ts.
 * - `tenant`: the operation reaches resources that the domains of a tenant share, and the key works as any other.
 * - `none`: the operation is refused.
 *
 * Two further kinds are about keys that name a mailbox. All the kinds above refuse them:
 *
 * - `mailbox`: the operation is for keys that name a mailbox, and refused to every other key and to people of the tenant.
 * - `every`: the operation is for every key.
 */
export type DomainReach = 'domain' | 'tenant' | 'none' | 'mailbox' | 'every';

/**
 * The API of another product, whose clients reach the operations under /v1 by it. `prefix` is the path before its paths, such as
 * `/compat/other`, and its errors have a shape of their own. Its routes are not in the OpenAPI document.
 */
export type ForeignApi = ProblemShape & {
  /** Returns true when the configuration allows it. */
  isOn(app: never): boolean;
  /** Registers its routes on a scope that requires and limits API keys as /v1 does. */
  register(scope: FastifyInstance, app: never, operations: Operations): void;
};

export type Feature = {
  /** Name of the folder. */
  name: string;
  /** Prefixes of the ids that the feature makes. */
  ids?: readonly string[];
  /** Routes under /v1, which need an API key. */
  routes?: readonly Register[];
  /** Operations of these routes, by their reach. */
  reach?: Partial<Record<DomainReach, readonly string[]>>;
  /**
   * Operations of these routes that a key whose mail requires approval may not use: they decide about such mail, or give another way to
   * send or to continue.
   */
  beyondApproval?: readonly string[];
  foreignApis?: readonly ForeignApi[];
  /** Other routes of the server of the API. They need no key unless they require one themselves. */
  publicRoutes?: readonly Register[];
  /** Routes of the operator, on the control socket. */
  operatorRoutes?: readonly Register[];
  /** Pages for people, under host names or paths of their own. */
  pages?: readonly ((app: never) => HostedApp)[];
  /** Background work of the main thread with a schedule of its own. */
  works?: readonly ((app: never) => Work<unknown>)[];
  /** Background work of the main thread that the task engine runs. */
  tasks?: readonly ((app: never) => TaskKind)[];
  /** Steps of retention, in their order. */
  retention?: (app: never) => readonly ExpiryStep[];
};
