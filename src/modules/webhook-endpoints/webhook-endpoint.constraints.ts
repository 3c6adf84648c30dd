import { Injectable } from '@nestjs/common';
import {
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { HttpClient } from '../../infrastructure/http-client/index.js';
import { MESSAGES, validateItems } from '../../infrastructure/validation/index.js';
import { EventNames } from './event-names.js';
import { NOT_PUBLIC } from './webhook-endpoint-errors.js';

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

/** Requires an array of names of events. */
@Injectable()
@ValidatorConstraint({ name: 'areEventNames' })
export class EventNamesConstraint implements ValidatorConstraintInterface {
  constructor(private readonly names: EventNames) {}

  validate(events: readonly unknown[]): boolean {
    return this.problemOf(events) === undefined;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return this.problemOf(value as readonly unknown[]) ?? '';
  }

  private problemOf(events: readonly unknown[]): string | undefined {
    const { all } = this.names;
    return validateItems(events, 'events', (name, field) =>
      all.includes(name as string) ? undefined : MESSAGES.selected(field, all),
    );
  }
}
