import type { CallOptions } from '../options.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Plan } from '../types.ts';

export class PlanResource extends Resource {
  /** Retrieve the plan and its use. */
  get(options?: CallOptions): Promise<Plan> {
    return this._get(path`/v1/plan`, options);
  }
}
