import { Injectable } from '@nestjs/common';
import { ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { HttpClient } from '../../infrastructure/http-client/index.js';

export const NOT_PUBLIC = 'The url field must be a public https URL.';

/** Requires a URL that webhooks can be sent to, which depends on `WEBHOOK_TARGETS`. */
@Injectable()
@ValidatorConstraint({ name: 'isWebhookUrl' })
export class WebhookUrlConstraint implements ValidatorConstraintInterface {
  constructor(private readonly http: HttpClient) {}

  validate(url: string): boolean {
    return this.http.urlProblem(url) === undefined;
  }

  defaultMessage(): string {
    return NOT_PUBLIC;
  }
}
