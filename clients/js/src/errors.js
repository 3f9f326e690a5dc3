// All errors, one class each.

export class CatalogError extends Error {
  constructor(message, { cause, ...details } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    Object.assign(this, details);
  }
}
export class InvalidRequest extends CatalogError {}
export class NotFound extends CatalogError {}
export class Incompatible extends CatalogError {}
export class Revoked extends CatalogError {}
export class IntegrityError extends CatalogError {}
export class ImportFailed extends CatalogError {}
export class FeedExpired extends CatalogError {}
export class Unavailable extends CatalogError {}
export class Offline extends Unavailable {}
