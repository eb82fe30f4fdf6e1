//! Numbers in Chinese characters, read in one way wherever they stand. Start at [`chinese_number`]. Invariant: what
//! comes after the number is not looked at.

/// 二十六, 一百五 (150), 一百零五 (105), 两千七百: how many characters it takes, and which number it is.
pub(crate) fn chinese_number(characters: impl Iterator<Item = char>) -> Option<(usize, f64)> {
    let (mut total, mut taken, mut unit_before) = (0.0, 0, 0.0);
    let mut digit: Option<f64> = None;
    for character in characters {
        if let Some(unit) = unit(character) {
            let starts = unit == 10.0 && taken == 0;
            match digit.take() {
                Some(digit) if digit > 0.0 => total += digit * unit,
                _ if starts => total += unit,
                _ => return None,
            }
            unit_before = unit;
        } else if let Some(value) = chinese_digit(character) {
            if digit.is_some_and(|digit| digit > 0.0) {
                break;
            }
            digit = Some(value);
            if value == 0.0 {
                unit_before = 0.0;
            }
        } else {
            break;
        }
        taken += 1;
    }
    // After 百 and 千 a last digit is of the next unit below.
    let last = digit.unwrap_or(0.0) * if unit_before > 10.0 { unit_before / 10.0 } else { 1.0 };
    (taken > 0).then_some((taken, total + last))
}

fn unit(character: char) -> Option<f64> {
    match character {
        '十' => Some(10.0),
        '百' => Some(100.0),
        '千' => Some(1000.0),
        _ => None,
    }
}

pub(crate) fn chinese_digit(character: char) -> Option<f64> {
    const DIGITS: [(&str, f64); 10] = [
        ("零〇", 0.0),
        ("一", 1.0),
        ("二两", 2.0),
        ("三", 3.0),
        ("四", 4.0),
        ("五", 5.0),
        ("六", 6.0),
        ("七", 7.0),
        ("八", 8.0),
        ("九", 9.0),
    ];
    DIGITS.iter().find(|(written, _)| written.contains(character)).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, f64)>) {
        assert_eq!(chinese_number(text.chars()), expected, "{text}");
    }

    #[test]
    fn a_last_digit_is_of_the_next_unit_unless_a_zero_stands_before_it() {
        check("一百五", Some((3, 150.0)));
        check("一百零五", Some((4, 105.0)));
        check("一百二十", Some((4, 120.0)));
        check("三千二", Some((3, 3200.0)));
        check("三千〇二十", Some((5, 3020.0)));
        check("二十五", Some((3, 25.0)));
        check("十五分", Some((2, 15.0)));
        check("两个", Some((1, 2.0)));
        check("零", Some((1, 0.0)));
        for no in ["百", "灯", ""] {
            check(no, None);
        }
    }
}
