import { Injectable } from '@nestjs/common';
import {
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { HttpClient } from '../../../infrastructure/http-client/index.js';
import { MESSAGES, validateItems } from '../../../infrastructure/validation/index.js';
import { EVENT_NAMES, type EventName } from '../events/event-catalog.js';
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

@ValidatorConstraint({ name: 'areEventNames' })
export class EventNamesConstraint implements ValidatorConstraintInterface {
  validate(events: readonly unknown[]): boolean {
    return this.problemOf(events) === undefined;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return this.problemOf(value as readonly unknown[]) ?? '';
  }

  private problemOf(events: readonly unknown[]): string | undefined {
    return validateItems(events, 'events', (name, field) =>
      EVENT_NAMES.includes(name as EventName) ? undefined : MESSAGES.selected(field, EVENT_NAMES),
    );
  }
}
