import type { CallOptions } from '../options.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { GetMetricsQuery, Metrics } from '../types.ts';

export class MetricsResource extends Resource {
  /** Count what became of your mail. */
  get(query?: GetMetricsQuery, options?: CallOptions): Promise<Metrics> {
    return this._get(path`/v1/metrics`, options, query);
  }
}
