//! Serial numbers as dates and times (ECMA-376 part 1, 18.17.4).

/// The last day, 9999-12-31, as a serial number that counts from 1900.
const LAST: f64 = 2_958_466.0;

const SECONDS: i64 = 86_400;

/// What a number format shows of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Date,
    Time,
    DateTime,
    /// Hours that go on past 24.
    Elapsed,
    /// A built-in format that is a date in one language and a time in another.
    Either,
}

/// A serial number in ISO 8601; `None` where it is no moment that a sheet can show.
pub(super) fn written(serial: f64, shown: Shown, since_1904: bool) -> Option<String> {
    if !serial.is_finite() || !(0.0..LAST).contains(&serial) {
        return None;
    }
    // To the second, as sheets show it. The number is below 2^22 days.
    let total = (serial * SECONDS as f64).round() as i64;
    let (day, second) = (total.div_euclid(SECONDS), total.rem_euclid(SECONDS));
    let shown = match shown {
        Shown::Either if day == 0 => Shown::Time,
        Shown::Either if second == 0 => Shown::Date,
        Shown::Either => Shown::DateTime,
        shown => shown,
    };
    Some(match shown {
        Shown::Date => date(day, since_1904),
        Shown::Time => time(second),
        Shown::DateTime | Shown::Either => format!("{}T{}", date(day, since_1904), time(second)),
        Shown::Elapsed => format!("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60),
    })
}

fn time(second: i64) -> String {
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

fn date(day: i64, since_1904: bool) -> String {
    // Days before 1970-01-01. Counting from 1900 has a 29th of February 1900, which never was, as its day 60.
    let unix = match day {
        day if since_1904 => day - 24_107,
        60 => return "1900-02-29".to_owned(),
        day if day < 60 => day - 25_568,
        day => day - 25_569,
    };
    let (year, month, day) = civil(unix);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The date of a day since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_become_dates() {
        for (serial, shown, since_1904, text) in [
            (45_429.0, Shown::Date, false, "2024-05-17"),
            (45_429.562_5, Shown::DateTime, false, "2024-05-17T13:30:00"),
            (0.75, Shown::Time, false, "18:00:00"),
            (1.0, Shown::Date, false, "1900-01-01"),
            (59.0, Shown::Date, false, "1900-02-28"),
            (60.0, Shown::Date, false, "1900-02-29"),
            (61.0, Shown::Date, false, "1900-03-01"),
            (0.0, Shown::Date, true, "1904-01-01"),
            (43_967.0, Shown::Date, true, "2024-05-17"),
            (1.104_166_666_666_666_7, Shown::Elapsed, false, "26:30:00"),
            (44_255.999_999_99, Shown::DateTime, false, "2021-03-01T00:00:00"),
            (0.5, Shown::Either, false, "12:00:00"),
            (2_958_465.0, Shown::Date, false, "9999-12-31"),
        ] {
            assert_eq!(written(serial, shown, since_1904).as_deref(), Some(text), "{serial}");
        }
        for serial in [-1.0, 2_958_466.0, f64::NAN, f64::INFINITY] {
            assert_eq!(written(serial, Shown::Date, false), None);
        }
    }
}
