import type { englishSubscriptionWords } from './englishSubscriptionWords.js'

/** What the page of a subscription says besides, in German. */
export const germanSubscriptionWords: Readonly<
  Record<keyof typeof englishSubscriptionWords, string>
> = {
  loadingSubscription: 'Ihr Abonnement wird geladen',
  draftedSubscription: 'Abonnement bei {name}',
  draftedSubscriptionText:
    'Sie unterschreiben einmal. Der Shop kann danach in jedem Zeitraum bis zu {amount} abbuchen, nie mehr, bis das Abonnement endet oder gekündigt wird. Unterschreiben kostet keine Gebühr.',
  activeSubscription: 'Abonnement aktiv',
  activeSubscriptionText:
    'Der Shop bucht in jedem Zeitraum von Ihrem Konto ab, ohne Sie noch einmal zu fragen. Sie können jederzeit kündigen.',
  pastDueSubscription: 'Ein Zeitraum wurde nicht abgebucht',
  pastDueSubscriptionText:
    'Der Shop kann es noch einmal versuchen oder den nächsten Zeitraum abbuchen. Prüfen Sie, ob genug Geld auf Ihrem Konto ist.',
  unpaidSubscription: 'Der Shop bucht nicht mehr ab',
  unpaidSubscriptionText:
    'Abbuchungen sind gescheitert. Ihre Erlaubnis gilt weiter, der Shop kann also wieder beginnen. Kündigen Sie das Abonnement, um es zu beenden, oder wenden Sie sich an den Shop, um es fortzusetzen.',
  cancelingSubscription: 'Ihre Kündigung ist unterwegs',
  cancelingSubscriptionText:
    'Der Shop bucht nichts Neues ab. Eine Abbuchung, die schon gesendet ist, kann noch durchgehen. Sobald das Netzwerk die Kündigung hat, kann für dieses Abonnement nie wieder abgebucht werden.',
  canceledSubscription: 'Abonnement gekündigt',
  canceledSubscriptionText:
    'Für dieses Abonnement kann nie wieder abgebucht werden.',
  endedSubscription: 'Abonnement beendet',
  endedSubscriptionText:
    'Das Abonnement ist vorbei. Es kann nie wieder dafür abgebucht werden.',
  perPeriod: '{amount} je {period}',
  mostPerPeriod: 'Höchstens je Zeitraum',
  periodLength: 'Länge eines Zeitraums',
  periodCount: 'Anzahl der Zeiträume',
  starts: 'Beginnt',
  ends: 'Endet',
  noEnd: 'ohne Ende',
  nextCharge: 'Nächste Abbuchung',
  soon: 'gleich',
  ifItFails: 'Wenn eine Abbuchung scheitert',
  ifItFailsText:
    'Der Shop kann es im selben Zeitraum noch einmal versuchen oder das Abbuchen beenden. Eine gescheiterte Abbuchung kostet Sie nichts.',
  signSubscription: 'Abonnement unterschreiben',
  cancelSubscription: 'Abonnement kündigen',
  askCancel: 'Dieses Abonnement kündigen?',
  askCancelText:
    'Der Shop bucht nichts Neues ab und nimmt seine Erlaubnis auf eigene Kosten im Netzwerk zurück. Eine Abbuchung, die schon gesendet ist, kann noch durchgehen. Für ein neues Abonnement unterschreiben Sie noch einmal.',
  cancelNow: 'Ja, kündigen',
  keepSubscription: 'Behalten',
  charges: 'Abbuchungen',
  chargePaid: 'Bezahlt für den Zeitraum ab {time}',
  chargeOpen: 'Unterwegs, für den Zeitraum ab {time}',
  chargeFailed: 'Nicht abgebucht für den Zeitraum ab {time}',
  SpendPermission: 'Erlaubnis, in jedem Zeitraum abzubuchen',
  manager: 'Vertrag, der die Grenze einhält',
  extraData: 'Weitere Daten',
}
