import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type {
  Contact,
  ContactCount,
  CountSegmentBody,
  CreateSegmentBody,
  GetSegmentQuery,
  ListSegmentContactsQuery,
  ListSegmentsQuery,
  Segment,
  UpdateSegmentBody,
} from '../types.ts';

export class Segments extends Resource {
  /** Count the contacts that a filter finds. */
  count(body: CountSegmentBody, options?: CallOptions): Promise<ContactCount> {
    return this._send('POST', path`/v1/segments/count`, options, body);
  }

  /** Create a segment. */
  create(body: CreateSegmentBody, options?: CallOptions): Promise<Segment> {
    return this._send('POST', path`/v1/segments`, options, body);
  }

  /** Delete a segment. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/segments/${id}`, options);
  }

  /** Retrieve a segment. */
  get(id: string, query?: GetSegmentQuery, options?: CallOptions): Promise<Segment> {
    return this._get(path`/v1/segments/${id}`, options, query);
  }

  /** List segments. */
  list(query?: ListSegmentsQuery, options?: CallOptions): List<Segment> {
    return this._list(path`/v1/segments`, options, query);
  }

  /** List the contacts of a segment. */
  listContacts(id: string, query?: ListSegmentContactsQuery, options?: CallOptions): List<Contact> {
    return this._list(path`/v1/segments/${id}/contacts`, options, query);
  }

  /** Update a segment. */
  update(id: string, body: UpdateSegmentBody, options?: CallOptions): Promise<Segment> {
    return this._send('PATCH', path`/v1/segments/${id}`, options, body);
  }
}
