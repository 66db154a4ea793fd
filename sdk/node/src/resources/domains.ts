import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  CreateDomainBody,
  Domain,
  DomainReport,
  DomainReportSums,
  ListDomainReportsQuery,
  ListDomainsQuery,
  SumDomainReportsQuery,
  UpdateDomainBody,
} from '../types.ts';

export class Domains extends Resource {
  /** Create a domain. */
  create(body: CreateDomainBody, options?: CallOptions): Promise<Domain> {
    return this._send('POST', path`/v1/domains`, options, body);
  }

  /** Delete a domain. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/domains/${id}`, options);
  }

  /** Retrieve a domain. */
  get(id: string, options?: CallOptions): Promise<Domain> {
    return this._get(path`/v1/domains/${id}`, options);
  }

  /** List domains. */
  list(query?: ListDomainsQuery, options?: CallOptions): List<Domain> {
    return this._list(path`/v1/domains`, options, query);
  }

  /** List reports about a domain. */
  listReports(id: string, query?: ListDomainReportsQuery, options?: CallOptions): List<DomainReport> {
    return this._list(path`/v1/domains/${id}/reports`, options, query);
  }

  /** Sum reports about a domain by day. */
  sumReports(id: string, query?: SumDomainReportsQuery, options?: CallOptions): Promise<DomainReportSums> {
    return this._get(path`/v1/domains/${id}/reports/days`, options, query);
  }

  /** Rotate the DKIM keys of a domain. */
  rotateDkim(id: string, options?: CallOptions): Promise<Domain> {
    return this._send('POST', path`/v1/domains/${id}/rotate-dkim`, options);
  }

  /** Update a domain. */
  update(id: string, body: UpdateDomainBody, options?: CallOptions): Promise<Domain> {
    return this._send('PATCH', path`/v1/domains/${id}`, options, body);
  }

  /** Verify a domain. */
  verify(id: string, options?: CallOptions): Promise<Domain> {
    return this._send('POST', path`/v1/domains/${id}/verify`, options);
  }
}
