// The part of oidc-provider that authorization-server.ts beside it uses: the package comes without types.

declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export type Stored = Record<string, unknown> & { grantId?: string; uid?: string; userCode?: string; consumed?: number };

  export interface Adapter {
    upsert(id: string, payload: Stored, expiresIn?: number): Promise<void>;
    find(id: string): Promise<Stored | undefined>;
    findByUid(uid: string): Promise<Stored | undefined>;
    findByUserCode(userCode: string): Promise<Stored | undefined>;
    consume(id: string): Promise<void>;
    destroy(id: string): Promise<void>;
    revokeByGrantId(grantId: string): Promise<void>;
  }

  export interface Context {
    body?: { access_token?: string };
    oidc: { body?: Record<string, unknown>; params?: Record<string, unknown>; client?: { clientId: string } };
  }

  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }

  export interface AccessToken {
    clientId?: string | undefined;
    aud?: string | string[];
    scope?: string;
    exp?: number;
  }

  export interface Interaction {
    params: Record<string, unknown>;
    returnTo: string;
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: Record<string, unknown>): Promise<void>;
    on(event: "grant.success" | "grant.error", listener: (context: Context) => void): this;
    on(event: "server_error", listener: (context: Context, error: Error) => void): this;
    readonly Grant: new (owner: { accountId: string; clientId: string }) => Grant;
    readonly AccessToken: { find(value: string): Promise<AccessToken | undefined> };
  }
}
