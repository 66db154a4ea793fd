import type { CallOptions } from '../options.ts';
import type { List } from '../pages.ts';
import { Resource } from '../resource.ts';
import { path, type Transport } from '../transport.ts';
import type {
  CreateTemplateBody,
  ListTemplatesQuery,
  ListTemplateVersionsQuery,
  PreviewTemplateBody,
  Template,
  TemplatePreview,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
  UpdateTemplateBody,
} from '../types.ts';

export class TemplatesVersions extends Resource {
  /** Retrieve a template version. */
  get(templateId: string, id: string, options?: CallOptions): Promise<TemplateVersion> {
    return this._get(path`/v1/templates/${templateId}/versions/${id}`, options);
  }

  /** List template versions. */
  list(
    templateId: string,
    query?: ListTemplateVersionsQuery,
    options?: CallOptions,
  ): List<TemplateVersionSummary> {
    return this._list(path`/v1/templates/${templateId}/versions`, options, query);
  }

  /** Restore a template version. */
  restore(templateId: string, id: string, options?: CallOptions): Promise<Template> {
    return this._send('POST', path`/v1/templates/${templateId}/versions/${id}/restore`, options);
  }
}

export class Templates extends Resource {
  readonly versions: TemplatesVersions;

  constructor(transport: Transport) {
    super(transport);
    this.versions = new TemplatesVersions(transport);
  }

  /** Create a template. */
  create(body: CreateTemplateBody, options?: CallOptions): Promise<Template> {
    return this._send('POST', path`/v1/templates`, options, body);
  }

  /** Delete a template. */
  delete(id: string, options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/templates/${id}`, options);
  }

  /** Retrieve a template. */
  get(id: string, options?: CallOptions): Promise<Template> {
    return this._get(path`/v1/templates/${id}`, options);
  }

  /** List templates. */
  list(query?: ListTemplatesQuery, options?: CallOptions): List<TemplateSummary> {
    return this._list(path`/v1/templates`, options, query);
  }

  /** Preview a template. */
  preview(body: PreviewTemplateBody, options?: CallOptions): Promise<TemplatePreview> {
    return this._send('POST', path`/v1/templates/preview`, options, body);
  }

  /** Update a template. */
  update(id: string, body: UpdateTemplateBody, options?: CallOptions): Promise<Template> {
    return this._send('PATCH', path`/v1/templates/${id}`, options, body);
  }
}
