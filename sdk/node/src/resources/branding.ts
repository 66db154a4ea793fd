import type { CallOptions } from '../options.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { Branding, BrandingPreview, ChangeBrandingBody, PreviewBrandingBody } from '../types.ts';

export class BrandingResource extends Resource {
  /** Delete the branding. */
  delete(options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/branding`, options);
  }

  /** Retrieve the branding. */
  get(options?: CallOptions): Promise<Branding> {
    return this._get(path`/v1/branding`, options);
  }

  /** Preview the branding. */
  preview(body: PreviewBrandingBody, options?: CallOptions): Promise<BrandingPreview> {
    return this._send('POST', path`/v1/branding/preview`, options, body);
  }

  /** Set the branding. */
  update(body: ChangeBrandingBody, options?: CallOptions): Promise<Branding> {
    return this._send('PUT', path`/v1/branding`, options, body);
  }
}
