/** The metric registry. Features declare their own metrics on it; labels stay bounded (never an address or a domain). */
import { Registry } from 'prom-client';

export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}
